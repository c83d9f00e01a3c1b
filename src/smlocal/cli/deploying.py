"""One `smlocal deploy`: from its options to an endpoint in service, or to its end."""

import json
from typing import TYPE_CHECKING, Any

import click

from smlocal.api.endpoints import (
    ListedEndpoint,
    deploy_in_background,
    model_to_deploy,
    refuse_served_name,
    view_endpoint,
    wait_in_service,
)
from smlocal.api.execution import execute
from smlocal.base.at_use import at_use
from smlocal.cli.screen_options import screen_of
from smlocal.cli.terminal.printable import json_without_commands
from smlocal.cli.terminal.screen import Screen
from smlocal.jobs.control.requests import StopSignals
from smlocal.sagemaker.serving.address import invocation_address, invoking_commands
from smlocal.sagemaker.serving.model_file import ModelFile

if TYPE_CHECKING:
    from smlocal.cli import job_options
    from smlocal.cli.commands import run
    from smlocal.cli.job_argument import job_named
    from smlocal.cli.views.summary import item, summary
else:  # rarely used, or used at the end
    job_options = at_use("smlocal.cli.job_options")
    run = at_use("smlocal.cli.commands.run")
    job_named = at_use("smlocal.cli.job_argument", "job_named")
    item = at_use("smlocal.cli.views.summary", "item")
    summary = at_use("smlocal.cli.views.summary", "summary")

_INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def deploy(what: str, given: dict[str, Any]) -> int:
    """Serve the model as the options say; returns the exit code."""
    model, name = model_to_deploy(
        what,
        image=given["image"],
        variables=dict(job_options.variables((), given["environment"])) if given["environment"] else {},
        name=given["name"],
        key=given["key"],
    )
    screen = screen_of(given)
    return (_in_background if given["detach"] else _in_foreground)(model, name, screen, given)


def _in_background(model: ModelFile, name: str, screen: Screen, given: dict[str, Any]) -> int:
    try:
        deploy_in_background(model, name=name, replace=given["replace"], reporter=screen)
        try:
            endpoint = wait_in_service(name, working=screen.working)
        except KeyboardInterrupt:
            screen.finish()
            _print_going_on(name)
            return _INTERRUPTED
    finally:
        screen.finish()
    if given["as_json"]:
        _print_json(name)
    elif endpoint.status == "InService":
        _print_address(endpoint, quiet=given["quiet"])
    else:
        _print_end(name)
    return 0 if endpoint.status == "InService" else run.EXIT_CODES[endpoint.record.status]


def _in_foreground(model: ModelFile, name: str, screen: Screen, given: dict[str, Any]) -> int:
    try:
        refuse_served_name(name)
        result, _ = execute(
            model, name=name, strict=False, replace=given["replace"], reporter=screen, requests=StopSignals()
        )
    except BaseException:
        screen.finish()
        raise
    screen.ended(result.view, "", lambda: None)
    if given["as_json"]:
        _print_json(name)
    if result.signal is not None and result.status == "Stopped":
        return 0  # Ctrl-C is how it is ended
    return run.EXIT_CODES[result.status]


def _print_address(endpoint: ListedEndpoint, *, quiet: bool) -> None:
    name, state = endpoint.record.name, endpoint.state
    click.echo(invocation_address(name, state.port))
    if not quiet:
        for command in invoking_commands(name, state.port, state.key_file):
            click.echo(command, err=True)
        if state.access:
            click.echo(state.access, err=True)


def _print_going_on(name: str) -> None:
    """Ctrl-C has ended this command only."""
    view = view_endpoint(name)
    if view.status.terminal:
        _print_end(name)
        return
    click.echo(f"{name} is {view.state} and keeps running", err=True)
    click.echo(item("next", f"smlocal endpoints · smlocal logs -f {name}"), err=True)
    click.echo(item("to stop", f"smlocal rm --stop {name}"), err=True)


def _print_end(name: str) -> None:
    click.echo(summary(view_endpoint(name)), err=True)


def _print_json(name: str) -> None:
    click.echo(json_without_commands(json.dumps(job_named(name).describe(), indent=2)))

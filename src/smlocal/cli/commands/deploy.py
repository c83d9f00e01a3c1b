"""`smlocal deploy`: serve a model from its image."""

import json
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.commands.run import EXIT_CODES
from smlocal.cli.job_argument import job_named
from smlocal.cli.job_options import variables
from smlocal.cli.screen_options import SCREEN_OPTIONS, screen_of
from smlocal.cli.shown_help import shown_command, shown_option
from smlocal.cli.terminal.printable import json_without_commands
from smlocal.jobfile.option import Head

if TYPE_CHECKING:
    from smlocal.api.endpoints import ListedEndpoint
    from smlocal.cli.terminal.screen import Screen
    from smlocal.sagemaker.hosting.model_file import ModelFile

_OPTIONS = (
    shown_option("--image", metavar="IMAGE", help="The image that serves the model.", head=Head.JOB, common=True),
    shown_option(
        "--env",
        "-e",
        "environment",
        multiple=True,
        metavar="KEY[=VALUE]",
        help="Set a variable of the container; repeatable.",
        head=Head.JOB,
        common=True,
    ),
    shown_option("--name", metavar="NAME", help="The name of the endpoint.", head=Head.JOB, common=True),
    shown_option(
        "--detach/--foreground",
        "detach",
        default=True,
        help="Return once it is in service, the default; or follow its log until it is stopped.",
        head=Head.RUN,
        common=True,
    ),
    shown_option(
        "--replace", is_flag=True, help="Replace an ended endpoint of the same name.", head=Head.RUN, common=True
    ),
    shown_option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print the description of the endpoint as JSON.",
        head=Head.RESULT,
        common=True,
    ),
    *SCREEN_OPTIONS,
)


def _with_options(command: Any) -> Any:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@shown_command(
    "deploy",
    examples=(
        ("smlocal deploy my-job --name my-endpoint", "Serve the model of a job from the image that trained it."),
        ("smlocal deploy model.tar.gz --image my-image", "Serve an archive."),
        ("smlocal deploy model.yaml --foreground", "Serve what a file describes, and follow the log."),
    ),
)
@click.argument("what", metavar="JOB|MODEL")
@_with_options
def command(*, what: str, **given: Any) -> int:
    """Serve a model from its image, as SageMaker hosting does.

    JOB|MODEL is a job that has left a model, an archive of a model (.tar.gz), a folder with one, or a model file: the
    members of CreateModel and CreateEndpointConfig in YAML or JSON. The container runs until smlocal stop.
    """
    from smlocal.api.endpoints import model_to_deploy

    model, name = model_to_deploy(
        what, image=given["image"], variables=dict(variables((), given["environment"])), name=given["name"]
    )
    screen = screen_of(given)
    return (_in_background if given["detach"] else _in_foreground)(model, name, screen, given)


def _in_background(model: "ModelFile", name: str, screen: "Screen", given: dict[str, Any]) -> int:
    from smlocal.api.endpoints import deploy_in_background, wait_in_service

    try:
        deploy_in_background(model, name=name, replace=given["replace"], reporter=screen)
        endpoint = wait_in_service(name, working=screen.working)
    finally:
        screen.finish()
    if given["as_json"]:
        _print_json(name)
    elif endpoint.status == "InService":
        _print_address(endpoint, quiet=given["quiet"])
    else:
        _print_end(name)
    return 0 if endpoint.status == "InService" else EXIT_CODES[endpoint.record.status]


def _in_foreground(model: "ModelFile", name: str, screen: "Screen", given: dict[str, Any]) -> int:
    from smlocal.api.execution import execute
    from smlocal.jobs.control.requests import StopSignals

    try:
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
    return EXIT_CODES[result.status]


def _print_address(endpoint: "ListedEndpoint", *, quiet: bool) -> None:
    from smlocal.sagemaker.hosting.state import invocation_address

    name = endpoint.record.name
    click.echo(invocation_address(name, endpoint.state.port))
    if not quiet:
        click.echo(f"smlocal invoke {name} --body FILE", err=True)


def _print_end(name: str) -> None:
    from smlocal.api.endpoints import view_endpoint
    from smlocal.cli.views.summary import summary

    click.echo(summary(view_endpoint(name)), err=True)


def _print_json(name: str) -> None:
    click.echo(json_without_commands(json.dumps(job_named(name).describe(), indent=2)))

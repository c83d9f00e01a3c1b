"""`smlocal exec`: run a program against this machine instead of AWS."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from smlocal.api.job_list import counted
from smlocal.base.at_use import at_use
from smlocal.base.readable import readable_bytes, short_path
from smlocal.cli.commands.serve import (
    check_endpoint_packages,
    engine_options,
    settings_of_jobs,
    stand_ins_of,
    steps_option,
)
from smlocal.cli.job_argument import job_named
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import paint, row, width_of
from smlocal.cli.terminal.links import with_file_links
from smlocal.cli.terminal.printable import printable
from smlocal.endpoint.local_mode import LocalModeLine, local_mode_lines
from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.jobs.store.home import home_directory, prepare_home
from smlocal.sagemaker.contract.identity import DEFAULT_REGION
from smlocal.terms.statuses import JobStatus

if TYPE_CHECKING:
    from smlocal.endpoint.run_program import run_program
    from smlocal.jobs.view import JobView
else:
    run_program = at_use("smlocal.endpoint.run_program", "run_program")

_MOST = 20
_HEAD = "  {:<9} "


@shown_command(
    "exec",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    examples=(
        ("smlocal exec -- python train.py", "Run a program of boto3 or an SDK."),
        ("smlocal exec -- aws sagemaker list-training-jobs", "Run the AWS CLI."),
    ),
)
@click.option("--allow-cpu", is_flag=True, help="Run GPU and Neuron instance types without their devices.")
@engine_options
@steps_option
@click.argument("words", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    *,
    allow_cpu: bool,
    engines: tuple[str, ...],
    engine_instances: int | None,
    steps: str | None,
    words: tuple[str, ...],
) -> int:
    """Run a program and answer its AWS calls on this machine.

    boto3, the AWS CLI and the SageMaker SDKs need no changes: the program finds the endpoint under the host names of
    AWS. At the end, the jobs that the program started are listed with their outcomes and models. Exits with the exit
    code of the program.
    """
    check_endpoint_packages()

    ended = run_program(
        words,
        os.environ,
        home=prepare_home(home_directory()),
        local=settings_of_jobs(allow_cpu=allow_cpu, engines=engines, engine_instances=engine_instances),
        stand_ins=stand_ins_of(steps),
        region=None if _has_region() else DEFAULT_REGION,
        say=_say,
    )
    try:
        _say_what_ran(words, ended.jobs)
    except SmlocalError as error:
        _say(error.sentence)
    except OSError:  # there is no place for the message
        pass
    return ended.code


def _say(message: str) -> None:
    click.echo(f"smlocal: {message}", err=True)


def _say_what_ran(command: tuple[str, ...], jobs: tuple[str, ...]) -> None:
    if jobs:
        _say("\n".join(job_lines(jobs)))
        return

    if found := local_mode_lines(command, os.getcwd()):
        _say("\n".join(local_mode_text(found)))


def _has_region() -> bool:
    """True if the environment or the AWS configuration sets one."""
    import botocore.session

    return botocore.session.Session().get_config_variable("region") is not None


def job_lines(names: Sequence[str]) -> Iterator[str]:
    """The jobs of a program, in the order in which it has started them. Those that are running go on."""
    yield f"{counted(names)} of this program"
    views: list[JobView] = []
    for name in names[:_MOST]:
        try:
            views.append(job_named(name).view())
        except JobUnknownError:
            yield f"  {name}   deleted"
        else:
            yield from _lines(views[-1])
    if len(names) > _MOST:
        yield f"  and {len(names) - _MOST} more: smlocal jobs"
    if views:
        yield from _next(views)


def _lines(view: "JobView") -> Iterator[str]:
    if not view.status.terminal:
        yield f"  {view.name}   {view.state}: it keeps running"
        return
    from smlocal.cli.views.summary import COLOURS

    state = paint(view.ended_as, COLOURS[view.status])
    yield f"  {view.name}   {state} in {view.seconds:.1f} s"
    if view.status is JobStatus.FAILED:
        yield from _row("reason", (view.reason.splitlines() or [""])[0])
        if because := view.local.get("Explanation"):
            yield from _row("because", because)
        for hint in view.local.get("Hints") or ():
            yield from _row("hint", hint)
    artifacts = view.local.get("Artifacts") or {}  # none if it could not begin
    for kind in ("Model", "Output"):
        if artifacts.get(kind):
            size = readable_bytes(artifacts[f"{kind}Bytes"])
            rows = "\n".join(_row(kind.lower(), f"{short_path(artifacts[kind])}  {size}"))
            yield with_file_links(rows, [artifacts[kind]], sys.stderr)


def _next(views: "Sequence[JobView]") -> Iterator[str]:
    """Next commands: for the first failed job, else for a running one, else for the last job."""
    running = [view for view in views if not view.status.terminal]
    failed = [view for view in views if view.status is JobStatus.FAILED]
    if failed:
        commands = _after_end(failed[0])
    elif running and "EndpointName" in running[0].answer:
        commands = [f"invoke {running[0].name} --body-file FILE", f"rm --stop {running[0].name}"]
    elif running:
        look = "describe" if running[0].log_of is None else "logs -f"
        commands = [f"{look} {running[0].name}", f"wait {running[0].name}"]
    else:
        last = next((view for view in reversed(views) if "EndpointName" not in view.answer), views[-1])
        commands = _after_end(last)
    yield from _row("next", " · ".join(f"smlocal {each}" for each in commands))


def _after_end(view: "JobView") -> list[str]:
    """An execution of a pipeline may have no log that explains how it ended."""
    if view.log_of is None:
        return [f"describe {view.name}", f"report {view.name}"]
    return [f"logs {view.log_of or view.name}", f"describe {view.name}"]


def local_mode_text(found: "Sequence[LocalModeLine]") -> Iterator[str]:
    """The lines to change."""
    yield (
        "this program sent no training job to smlocal. It uses the local mode of the SageMaker SDK, which starts "
        "containers itself. Change:"
    )
    for each in found[:_MOST]:
        yield from _row("in", each.place)
        yield from _row("this", each.line)
        yield from _row("to this", each.instead or "(leave it out)")
    if len(found) > _MOST:
        yield from _row("", f"and {len(found) - _MOST} more")
    yield from _row("more", "smlocal help local-mode")


def _row(head: str, text: str) -> Iterator[str]:
    yield from row(_HEAD.format(head), printable(text), width=width_of(sys.stderr))

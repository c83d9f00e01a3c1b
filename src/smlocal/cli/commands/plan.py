"""`smlocal plan`: show what a run would do, from the object that it would execute."""

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.job_argument import completed_jobs
from smlocal.cli.job_file_here import with_job_file
from smlocal.cli.job_options import job_options, overrides_and_defaults, read_job_options, said
from smlocal.cli.shown_help import shown_command, shown_option
from smlocal.cli.terminal.layout import LEAST, row, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.cli.views.figures import tried_lines, tried_rows
from smlocal.errors import UsageRefusedError
from smlocal.jobfile.option import Head
from smlocal.sagemaker.contract.requested import definitions_of
from smlocal.terms.masking import without_passwords

if TYPE_CHECKING:
    from smlocal.jobfile.job_reading import AskedJob
    from smlocal.jobs.planning.model import RecordedPlan

_LEAST_BESIDE = 48
"""Columns beside the path of a file; on a narrower terminal its content is below the path."""
_BELOW = 15


@shown_command(
    "plan",
    examples=(
        ("smlocal plan job.yaml", "Show the plan of a job file."),
        ("smlocal plan job.yaml --script", "Print the docker commands."),
        ("smlocal plan --recorded @last", "Plan the request of the newest job."),
    ),
)
@job_options
@shown_option(
    "--recorded",
    metavar="NAME",
    shell_complete=completed_jobs,
    help="Plan the request of an earlier job.",
    head=Head.JOB,
    common=True,
)
@shown_option(
    "--json", "as_json", is_flag=True, help="Print the whole plan as one JSON document.", head=Head.RESULT, common=True
)
@shown_option(
    "--script",
    is_flag=True,
    help="Print only a bash script of docker commands that does the same.",
    head=Head.RESULT,
    common=True,
)
@shown_option(
    "--try-line",
    "texts",
    multiple=True,
    metavar="TEXT",
    help="Test MetricDefinitions on a log line; repeatable.",
    head=Head.RESULT,
)
def command(*, recorded: str | None, as_json: bool, script: bool, texts: tuple[str, ...], **given: Any) -> None:
    """Show what a run would do and how it differs from the service.

    JOB is a CreateTrainingJob request, a job of AI Platform Training or a custom job (smlocal help ai-platform).
    Default: the only one of job.yaml, job.yml and job.json in this folder. Nothing is run or pulled, and no job is
    created.
    """
    if as_json and script:
        raise click.UsageError("--json and --script cannot be used together: the document includes the script.")
    job, name = read_job_options(with_job_file(given)) if recorded is None else _read_recorded(recorded, given)

    from smlocal.api.run import plan_only
    from smlocal.jobs.kinds import preparing

    plan = plan_only(job, name=name, strict=given["strict"])
    platform = preparing(plan.platform)
    tried, as_script = _tried(plan, texts), platform.script(plan)
    if as_json:
        document = {**platform.plan_document(plan), **({"TriedLines": tried} if tried else {})}
        click.echo(
            json_without_commands(
                json.dumps({**document, **({"Script": as_script} if as_script is not None else {})}, indent=2)
            )
        )
    elif script:
        if as_script is None:
            raise _no_script(plan)
        click.echo(as_script, nl=False)
    else:
        _print_rows(platform.plan_rows(plan))
        if tried:
            _print_rows(tried_rows(tried))


def _no_script(plan: "RecordedPlan") -> "UsageRefusedError":
    from smlocal.jobs.planning.model import JobPlan

    why = "its replicas are restarted, and the job is tried again"
    if not isinstance(plan, JobPlan):
        why = "the jobs that it starts depend on how others end"
    elif plan.serving is not None:
        why = "its records are sent to the container while that runs"
    elif plan.folders.root:
        why = "its outputs are uploaded, and no such command does that"
    return UsageRefusedError(
        f"{plan.name} cannot be a script of docker commands: {why}",
        remedy=["smlocal plan --json prints everything that its containers are started with."],
    )


def _read_recorded(recorded: str, given: dict[str, Any]) -> "tuple[AskedJob, str]":
    from smlocal.api.job_names import resolve_job_name
    from smlocal.api.recorded_job import read_recorded

    if given["job"] is not None:
        raise click.UsageError("--recorded names an earlier job; a job file cannot be given with it.")
    recorded = resolve_job_name(recorded)
    overrides, defaults = overrides_and_defaults(given)
    return read_recorded(recorded, overrides, defaults=defaults, strict=given["strict"], on_message=said(given))


def _print_rows(rows: "Iterable[tuple[str, str]]") -> None:
    from smlocal.jobs.planning.plan_rows import COLUMN

    width = width_of(sys.stdout)
    for head, text in rows:
        shown, beside = printable(without_passwords(text)), printable(without_passwords(f"{head:<{COLUMN}}"))
        of_a_file = len(beside) > COLUMN
        for line in row(
            beside,
            shown,
            width=width,
            narrow=_BELOW,
            least=_LEAST_BESIDE if of_a_file else LEAST,
            break_words=of_a_file,
        ):
            click.echo(line)


def _tried(plan: "RecordedPlan", texts: tuple[str, ...]) -> list[dict[str, Any]]:
    if not texts:
        return []

    if not definitions_of(plan.request):
        raise click.UsageError("--try-line needs MetricDefinitions, and the request has none.")
    return tried_lines(plan.request, texts)

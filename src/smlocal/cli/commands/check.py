"""`smlocal check`: check a training image before anybody pays for it."""

from typing import TYPE_CHECKING, Any

import click

from smlocal.base.at_use import at_use
from smlocal.check import DEFAULT_TIMEOUT, LONGEST_TIMEOUT
from smlocal.cli.ci_messages import chosen_service, ci_option
from smlocal.cli.described_documents import allow_local_paths_option
from smlocal.cli.job_file_here import job_file_here
from smlocal.cli.shown_help import shown_command, shown_option
from smlocal.jobfile.option import Head

if TYPE_CHECKING:
    from smlocal.check.registry import all_rules
    from smlocal.cli.checking import check
else:
    all_rules = at_use("smlocal.check.registry", "all_rules")
    check = at_use("smlocal.cli.checking", "check")

_PROFILES = (
    *("serve", "processing", "model-trainer", "model-trainer=mpi"),
    *("remote-function", "toolkit", "toolkit-mpi", "smddp"),
)
_LEVELS = ("error", "warning", "info")


def _rule_ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """For the completion of a shell."""
    del context

    end = "=" if parameter.name == "ignores" else ""
    return [rule.id + end for rule in all_rules() if rule.id.startswith(incomplete)]


@shown_command(
    "check",
    examples=(
        ("smlocal check my-image", "Check an image, with short jobs."),
        ("smlocal check my-image --static --fail-on warning", "Start no container; warnings count."),
        (
            "smlocal check job.yaml --train-and-serve --body request.csv",
            "Check training, serve the model, ask once.",
        ),
    ),
)
@click.argument("subject", required=False, metavar="[IMAGE/JOB/MODEL]")
@shown_option(
    "--image", metavar="IMAGE", help="Image to check in place of the one in the job file.", head=Head.CHECK, common=True
)
@shown_option("--static", is_flag=True, help="Look at the image only; do not run jobs.", head=Head.CHECK, common=True)
@shown_option(
    "--timeout",
    type=click.IntRange(1, LONGEST_TIMEOUT),
    default=DEFAULT_TIMEOUT,
    metavar="SECONDS",
    help=f"Stop each job of the check after this time. Default: {DEFAULT_TIMEOUT}.",
    head=Head.CHECK,
)
@shown_option(
    "--only",
    metavar="ID",
    multiple=True,
    shell_complete=_rule_ids,
    help="Check only this rule; repeatable.",
    head=Head.CHECK,
    common=True,
)
@shown_option(
    "--skip",
    metavar="ID",
    multiple=True,
    shell_complete=_rule_ids,
    help="Skip this rule; repeatable.",
    head=Head.CHECK,
    common=True,
)
@shown_option(
    "--for",
    "profiles",
    type=click.Choice(_PROFILES),
    multiple=True,
    help="serve, processing: check the image as an endpoint, or for processing jobs, in place of training. Others: "
    "check that it has what this launcher needs. Repeatable.",
    head=Head.CHECK,
    common=True,
)
@shown_option(
    "--train-and-serve",
    is_flag=True,
    help="Check training, then serve the model that the job has left, and ask once.",
    head=Head.CHECK,
    common=True,
)
@shown_option(
    "--model",
    type=click.Path(readable=False),
    metavar="PATH",
    help="Archive or folder that the endpoint of the check serves. Default: none.",
    head=Head.CHECK,
)
@shown_option(
    "--body",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Request that the endpoint is asked once. Default: a line of numbers.",
    head=Head.CHECK,
)
@shown_option(
    "--content-type",
    metavar="TYPE",
    help="Type of the request. Default: text/csv.",
    head=Head.CHECK,
    default="text/csv",
)
@shown_option(
    "--fail-on",
    type=click.Choice(_LEVELS),
    default="error",
    help="Exit with 1 for findings of this severity or worse. Default: error.",
    head=Head.CHECK,
    common=True,
)
@shown_option(
    "--ignore",
    "ignores",
    metavar="ID=REASON",
    multiple=True,
    shell_complete=_rule_ids,
    help="Accept the findings of a rule; repeatable.",
    head=Head.CHECK,
)
@shown_option(
    "--dockerfile",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Dockerfile of the image; findings then name its lines.",
    head=Head.RESULT,
    common=True,
)
@shown_option("--json", "as_json", is_flag=True, help="Print one JSON document.", head=Head.RESULT, common=True)
@shown_option(
    "--junit",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Write the results to FILE as JUnit XML, one case for each rule.",
    head=Head.RESULT,
)
@shown_option(
    "--sarif",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Write the findings to FILE as SARIF, for code scanning.",
    head=Head.RESULT,
)
@allow_local_paths_option
@ci_option
def command(*, subject: str | None, ci: str | None, **given: Any) -> int:
    """Check an image and report every problem.

    IMAGE is a local image. JOB is a job file: its image, or --image, is checked for this job. For a tuning job, that
    is its first training job. For a processing job, no job is run. MODEL is a model file or the file of a transform
    job: its image is checked as an endpoint. Default: the only one of job.yaml, job.yml and job.json in
    this folder.

    Exits with 0 if no finding reaches --fail-on, with 1 if one does, and with 3 if this machine could not run it.
    """
    subject = job_file_here("Give an image or a job file.") if subject is None else subject
    return check(subject=subject, service=chosen_service(ci), **given)

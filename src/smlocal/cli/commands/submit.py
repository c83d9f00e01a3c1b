"""`smlocal submit`: run a job file on the service."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from smlocal.base.at_use import at_use
from smlocal.cli.job_options import override_options, setting_option
from smlocal.cli.screen_options import SCREEN_OPTIONS, mode_of
from smlocal.cli.shown_help import shown_command, shown_option
from smlocal.cli.terminal.messages import ProgressMode
from smlocal.errors import SmlocalError
from smlocal.jobfile.option import Head

if TYPE_CHECKING:
    from smlocal.cli.submitting import submit
    from smlocal.cli.terminal.event_screen import print_error
else:
    submit = at_use("smlocal.cli.submitting", "submit")
    print_error = at_use("smlocal.cli.terminal.event_screen", "print_error")

_SUBMIT_OPTIONS = (
    setting_option("role", help="RoleArn."),
    setting_option("code", help="Folder for /opt/ml/code; the image needs the training toolkit."),
    shown_option(
        "--upload-to",
        metavar="S3URI",
        help="S3 prefix for uploads of local channels, inputs and code.",
        head=Head.SERVICE,
        common=True,
    ),
    shown_option(
        "--output-to",
        metavar="S3URI",
        help="S3 prefix for artifacts (OutputDataConfig.S3OutputPath), or for local outputs of a processing job.",
        head=Head.SERVICE,
        common=True,
    ),
    shown_option(
        "--upload-sources",
        is_flag=True,
        help="Upload the folders of Local.Sources instead of using the data in S3.",
        head=Head.SERVICE,
    ),
    shown_option(
        "--profile",
        metavar="NAME",
        help="AWS profile. Default: your AWS configuration.",
        head=Head.SERVICE,
        common=True,
    ),
    shown_option(
        "--region",
        metavar="REGION",
        help="AWS region. Default: Local.Region, or your AWS configuration.",
        head=Head.SERVICE,
        common=True,
    ),
    shown_option(
        "--dry-run",
        is_flag=True,
        help="Print the request and the uploads; send nothing.",
        head=Head.SERVICE,
        common=True,
    ),
    shown_option(
        "--yes",
        "-y",
        is_flag=True,
        help="Do not ask before the job starts, or before Ctrl-C stops it.",
        head=Head.SERVICE,
        common=True,
    ),
    shown_option(
        "--wait/--no-wait", default=True, help="Follow the job until it ends. Default: --wait.", head=Head.SERVICE
    ),
    shown_option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print the final job description as JSON; logs go to stderr.",
        head=Head.RESULT,
        common=True,
    ),
    shown_option(
        "--report",
        type=click.Path(readable=False),
        metavar="FILE",
        help="Write the final job description to FILE as JSON, however the job ends.",
        head=Head.RESULT,
    ),
)


def _options(command: Any) -> Any:
    for option in reversed((*_SUBMIT_OPTIONS, *SCREEN_OPTIONS)):
        command = option(command)
    return command


@shown_command(
    "submit",
    examples=(
        ("smlocal submit job.yaml --upload-to s3://my-bucket/jobs --dry-run", "Show what would be sent."),
        ("smlocal submit job.yaml --upload-to s3://my-bucket/jobs --yes", "Run the job without a question."),
        ("smlocal submit pipeline.yaml --name abalone -p Epochs=3", "Update a pipeline, and start it."),
    ),
)
@click.argument("job", required=False, type=click.Path(), metavar="[JOB]")
@partial(override_options, submit=True)
@_options
def command(**given: Any) -> int:
    """Run a job file on SageMaker.

    JOB is a job file as for smlocal run, of a training, processing or tuning job, or a pipeline. First, everything that
    the service would refuse is reported. Local channels and code are uploaded below --upload-to, unless they are there
    already. The job is created after you confirm the maximum instance-hours, and followed until it ends. A pipeline is
    created, or updated if its name is there, and started; nothing is uploaded for it.
    """
    if mode_of(given) is not ProgressMode.JSON:
        return submit(given)

    try:
        return submit(given)
    except SmlocalError as error:
        print_error(error, as_json=given["as_json"])
        return error.exit_code

"""`smlocal reproduce`: run a job of the service here, and see whether it ends in the same way."""

from collections.abc import Callable
from typing import Any

import click

from smlocal.cli.described_documents import allow_local_paths_option
from smlocal.cli.job_of_service import service_options
from smlocal.cli.job_options import override_options, setting_option
from smlocal.cli.same_command import WithWords
from smlocal.cli.screen_options import SCREEN_OPTIONS
from smlocal.cli.shown_help import shown_command, shown_option
from smlocal.jobfile.option import Head


def _run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about the run that make sense here."""
    options = (
        setting_option("pull", help="When to pull the image."),
        setting_option("keep", help="Keep the containers of the run."),
        setting_option("wait_for_debugger"),
        shown_option(
            "--build",
            type=click.Path(readable=False),
            metavar="DIR",
            help="Build the Dockerfile in DIR first, as the image of the run.",
            head=Head.RUN,
            common=True,
        ),
        shown_option(
            "--json",
            "as_json",
            is_flag=True,
            help="Print both ends as JSON; container output goes to stderr.",
            head=Head.RESULT,
            common=True,
        ),
        *SCREEN_OPTIONS,
    )
    for option in reversed(options):
        command = option(command)
    return command


@shown_command(
    "reproduce",
    cls=WithWords,
    examples=(
        ("smlocal reproduce my-job --source s3://my-bucket/data=./data", "Use a local copy of the data."),
        ("smlocal reproduce described.json --sample 100", "Use only 100 objects of each channel."),
    ),
)
@click.argument("job", type=click.Path(readable=False), metavar="JOB/FILE")
@shown_option(
    "--job", "chosen", metavar="NAME", help="Name of the job, if a file describes several.", head=Head.SERVICE
)
@shown_option(
    "--logs",
    type=click.Path(readable=False),
    metavar="FILE",
    help="A saved log of the job: text, what aws logs prints, or a CSV. Default: CloudWatch, if JOB is a name.",
    head=Head.SERVICE,
    common=True,
)
@shown_option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Use only the first N objects of each channel.",
    head=Head.DATA,
    common=True,
)
@allow_local_paths_option
@service_options
@override_options
@_run_options
def command(**given: Any) -> int:
    """Run a job of the service here, and compare how both ended.

    JOB is the name or ARN of a job in your AWS account, or the ARN of a processing job. FILE is a saved answer of
    DescribeTrainingJob or DescribeProcessingJob; it needs neither credentials nor the network. Options override the
    request. Exit codes: 0 reproduced, 1 not reproduced, others as for run.
    """
    from smlocal.cli.reproducing import reproduce

    return reproduce(**given)

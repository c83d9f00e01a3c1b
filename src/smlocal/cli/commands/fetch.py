"""`smlocal fetch`: a job of the service as a job file."""

import shlex
import sys
from typing import TYPE_CHECKING

import click

from smlocal.base.at_use import at_use
from smlocal.cli.described_documents import allow_local_paths_option
from smlocal.cli.job_of_service import job_of_service, names_file, service_options
from smlocal.cli.new_file import check_new_file, write_new_file
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import width_of, wrapped
from smlocal.cli.terminal.printable import printable
from smlocal.jobs.kind import Kind
from smlocal.sagemaker.kinds import PIPELINE, PROCESSING, TRAINING, TUNING

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document
    from smlocal.service import described_pipeline
    from smlocal.service.described_job import read_answer
    from smlocal.service.described_request import described, fetch, remarks
    from smlocal.service.job_file_text import check_local_paths, job_file_text
    from smlocal.service.unavailable_here import lines_about, unavailable_here
else:
    check_local_paths = at_use("smlocal.service.job_file_text", "check_local_paths")
    job_file_text = at_use("smlocal.service.job_file_text", "job_file_text")
    lines_about = at_use("smlocal.service.unavailable_here", "lines_about")
    unavailable_here = at_use("smlocal.service.unavailable_here", "unavailable_here")
    described_pipeline = at_use("smlocal.service.described_pipeline")
    read_answer = at_use("smlocal.service.described_job", "read_answer")
    described = at_use("smlocal.service.described_request", "described")
    fetch = at_use("smlocal.service.described_request", "fetch")
    remarks = at_use("smlocal.service.described_request", "remarks")

_FILE_OPTION = "-o"


@shown_command(
    "fetch",
    examples=(
        ("smlocal fetch my-job", "Write job.yaml for a job in your account."),
        ("smlocal fetch described.json --file -", "Print the job file for a saved answer."),
        (
            "smlocal fetch arn:aws:sagemaker:eu-west-1:123456789012:pipeline/abalone",
            "Write pipeline.yaml for a pipeline in your account.",
        ),
    ),
)
@click.argument("job", type=click.Path(readable=False), metavar="JOB/FILE")
@click.option(
    "--file",
    "-o",
    type=click.Path(readable=False),
    metavar="FILE",
    help='Job file to write; "-" is standard output. Default: job.yaml, or pipeline.yaml.',
)
@click.option("--job", "chosen", metavar="NAME", help="Name of the job, if a file describes several.")
@allow_local_paths_option
@service_options
def command(
    *, job: str, file: str | None, chosen: str | None, allow_local_paths: bool, profile: str | None, region: str | None
) -> None:
    """Write the job file of a job of the service.

    JOB is the name or ARN of a training job in your AWS account, or the ARN of a processing job, a tuning job, a
    pipeline or an execution of one. FILE is a saved answer of DescribeTrainingJob, DescribeProcessingJob,
    DescribeHyperParameterTuningJob, DescribePipeline or Search, a request that a SageMaker SDK made, or a filled-in
    skeleton of the AWS CLI; "-" is standard input. A file needs neither credentials nor the network. Existing files are
    never overwritten.
    """
    document = read_answer(job) if names_file(job) else None
    is_pipeline = PIPELINE.describes(document.data) if document is not None else f":{PIPELINE.word}/" in job
    file = file or (PIPELINE if is_pipeline else TRAINING).file
    check_new_file(file, _FILE_OPTION)
    if is_pipeline:
        _write_pipeline(job, document, file, profile=profile, region=region)
        return
    for kind in (TUNING, PROCESSING):
        if kind.describes(document.data) if document is not None else f":{kind.in_commands}/" in job:
            _write(kind, job, document, file, allow_local_paths=allow_local_paths, profile=profile, region=region)
            return
    fetched = job_of_service(job, chosen=chosen, profile=profile, region=region, read=document)

    check_local_paths(fetched.job, name=job, allow_local_paths=allow_local_paths)
    write_new_file(file, job_file_text(fetched.job, file=file, notes=fetched.notes), _FILE_OPTION)
    for note in fetched.notes:
        _say(note)
    if fetched.job.is_running:
        _say(f"{fetched.job.name} had not ended when it was described: {fetched.job.status}")
    if fetched.job.newer:
        _say(f"not known to this version of smlocal, and kept as comments: {', '.join(fetched.job.newer)}")
    if fetched.job.skeleton:
        _say(f"left out, because they are empty in the skeleton: {len(fetched.job.empty)} members")
    if fetched.job.untouched:
        _say(f"nobody may have meant these, which every skeleton has: {', '.join(fetched.job.untouched)}")
    for line in lines_about(unavailable_here(fetched.job.request, fetched.job.local)):
        _say(line)
    _say_what_now(file)


def _write(
    kind: Kind,
    job: str,
    document: "Document | None",
    file: str,
    *,
    allow_local_paths: bool,
    profile: str | None,
    region: str | None,
) -> None:
    """The file of a job of a kind without training."""
    if document is None:
        found, notes = fetch(kind, job, profile=profile, region=region)
    else:
        found, notes = described(kind, document.data), []
    found.check_local_paths(name=job, allow_local_paths=allow_local_paths)
    write_new_file(file, found.file_text(file=file), _FILE_OPTION)
    if found.newer:
        notes.append(f"not known to this version of smlocal, and kept as comments: {', '.join(found.newer)}")
    for note in (*notes, *remarks(found)):
        _say(note)
    _say_what_now(file)


def _write_pipeline(
    job: str, document: "Document | None", file: str, *, profile: str | None, region: str | None
) -> None:
    """The file of a pipeline, or of an execution with the values of its parameters."""
    if document is not None:
        found = described_pipeline.described(document)
    else:
        found = described_pipeline.fetch(job, profile=profile, region=region)
    found.check_local_paths(name=job)
    write_new_file(file, found.file_text(file=file), _FILE_OPTION)
    for note in found.remarks():
        _say(note)
    _say_what_now(file)


def _say_what_now(file: str) -> None:
    if file != "-":
        for verb in ("plan", "run"):
            click.echo(f"  smlocal {verb} {shlex.quote(file)}", err=True)


def _say(text: str) -> None:
    lines = wrapped(printable(text), indent=2, width=width_of(sys.stderr))
    click.echo("! " + "\n".join(lines), err=True)

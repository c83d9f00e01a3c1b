"""`smlocal conformance`: what a container sees here and on the service, and where the two differ."""

import json
import os
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from smlocal.api.overrides import Overrides
from smlocal.base.at_use import at_use
from smlocal.cli.ended_by_signals import ended_by_signals
from smlocal.cli.job_argument import completed_jobs
from smlocal.cli.job_options import setting_option
from smlocal.cli.new_file import check_new_folder
from smlocal.cli.shown_help import shown_group
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.errors import OutputUnusableError
from smlocal.jobs.finish.report_path import check_report_path
from smlocal.service.conformance.cases import ConformanceCase, write_context, write_jobs
from smlocal.service.conformance.service_run import ServicePlace, requests, run_on_service
from smlocal.service.service import Service

if TYPE_CHECKING:
    from smlocal.service.conformance.local_run import run_cases, see_to_image
    from smlocal.service.conformance.reading import collect
else:
    see_to_image = at_use("smlocal.service.conformance.local_run", "see_to_image")
    run_cases = at_use("smlocal.service.conformance.local_run", "run_cases")
    collect = at_use("smlocal.service.conformance.reading", "collect")

_CASES = ("everything", "stopped", "failed")
_BASE = "python:3.11-slim-bookworm"
_GRACE_SECONDS = 120
_LONGEST_GRACE = 600
_INSTANCE_TYPE = "ml.m5.large"


@shown_group(
    "conformance",
    examples=(
        ("smlocal conformance run", "Record what a container sees here."),
        ("smlocal conformance diff conformance.json service.json", "Compare two records."),
    ),
)
def command() -> None:
    """Record what a container sees, and compare records.

    The same image runs here and on the service. Anyone with an AWS account can check where smlocal differs.
    """


@command.command(
    "build",
    examples=(
        ("smlocal conformance build", "Build the image."),
        ("smlocal conformance build --output ./probe", "Write the files of the image only."),
    ),
)
@click.option("--base", metavar="IMAGE", default=_BASE, help=f"Base image, with Python 3.7 or newer. Default: {_BASE}.")
@click.option("--tag", metavar="IMAGE", help="Name of the new image. Default: a name made from the base.")
@click.option(
    "--output",
    "-o",
    type=click.Path(readable=False),
    metavar="DIR",
    help="Build nothing: write the Dockerfile, the probe, the requests and the data to DIR, a new or empty folder.",
)
def build(*, base: str, tag: str | None, output: str | None) -> None:
    """Build the image, or write its files.

    Prints the name of the image.
    """
    if output is not None:
        if tag is not None:
            raise click.UsageError("--output and --tag: nothing is built, so nothing gets a name.")

        check_new_folder(output, "--output")
        write_context(output, base=base)
        write_jobs(output)
        click.echo(output)
        return
    with ended_by_signals():
        click.echo(see_to_image(base, tag=tag, always=True, quiet=False))


@command.command(
    "run",
    examples=(
        ("smlocal conformance run", "Run all three jobs."),
        ("smlocal conformance run --case everything", "Run one job."),
    ),
)
@click.option("--case", "cases", type=click.Choice(_CASES), multiple=True, help="Run only this case; repeatable.")
@setting_option("image", help="Image to run. Default: smlocal's own, built if it is missing.", common=False)
@click.option("--base", metavar="IMAGE", default=_BASE, help=f"Base of that image. Default: {_BASE}.")
@setting_option("instance_type", common=False)
@setting_option("credentials", common=False)
@setting_option("role", common=False)
@setting_option("gpus", help="GPUs of each host, as for smlocal run.", common=False)
@setting_option("allow_cpu", common=False)
@click.option(
    "--grace",
    type=click.IntRange(1, _LONGEST_GRACE),
    default=_GRACE_SECONDS,
    metavar="SECONDS",
    help=f"Time between SIGTERM and SIGKILL. Default: {_GRACE_SECONDS}, as on the service.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(readable=False),
    metavar="DIR",
    default="smlocal-output",
    help="Folder for the artifacts of the jobs. Default: smlocal-output.",
)
@click.option(
    "--file",
    type=click.Path(readable=False),
    metavar="FILE",
    default="conformance.json",
    help='Record to write; "-" is standard output. Default: conformance.json.',
)
def run(
    *, cases: Sequence[str], image: str | None, base: str, grace: int, output: str, file: str, **given: Any
) -> None:
    """Run the image here, and write the record.

    Three jobs run side by side. One of them waits for SIGKILL, so this takes as long as --grace.
    """
    overrides: Overrides = {name: value for name, value in given.items() if value}  # type: ignore[assignment]  # their names are options here
    _refuse_unwritable(file)
    with ended_by_signals(), tempfile.TemporaryDirectory(prefix="smlocal-conformance-") as folder:
        names = run_cases(
            [ConformanceCase(case) for case in cases or _CASES],
            image or see_to_image(base),
            output=os.path.abspath(output),
            folder=folder,
            grace=grace,
            overrides=overrides,
            said=_say,
        )
    _write_record(names, file)


@command.command(
    "submit",
    examples=(
        (
            "smlocal conformance submit --image IMAGE --role ARN --upload-to s3://my-bucket/probe --dry-run",
            "Print the requests.",
        ),
        (
            "smlocal conformance submit --image IMAGE --role ARN --upload-to s3://my-bucket/probe --case everything",
            "Run one case.",
        ),
    ),
)
@click.option("--case", "cases", type=click.Choice(_CASES), multiple=True, help="Run only this case; repeatable.")
@click.option("--image", metavar="IMAGE", required=True, help="Image, in Amazon ECR.")
@click.option("--role", metavar="ARN", required=True, help="RoleArn.")
@click.option("--upload-to", metavar="S3URI", required=True, help="S3 prefix for data and artifacts.")
@click.option(
    "--instance-type", metavar="TYPE", default=_INSTANCE_TYPE, help=f"Instance type. Default: {_INSTANCE_TYPE}."
)
@click.option("--profile", metavar="NAME", help="Profile of the AWS configuration.")
@click.option("--region", metavar="REGION", help="Region of the service.")
@click.option("--dry-run", is_flag=True, help="Print the requests; send nothing.")
@click.option("--yes", "-y", is_flag=True, help="Skip the question.")
@click.option(
    "--output",
    "-o",
    type=click.Path(readable=False),
    metavar="DIR",
    default="smlocal-output",
    help="Folder for the output of the jobs. Default: smlocal-output.",
)
@click.option(
    "--file",
    type=click.Path(readable=False),
    metavar="FILE",
    default="service.json",
    help='Record to write; "-" is standard output. Default: service.json.',
)
def submit(
    *,
    cases: Sequence[str],
    upload_to: str,
    profile: str | None,
    region: str | None,
    dry_run: bool,
    yes: bool,
    output: str,
    file: str,
    **given: str,
) -> None:
    """Run the image on the service, and write the record.

    This costs money: five instances in all. Ctrl-C stops the jobs.
    """
    place = ServicePlace.read(upload_to)
    asked = requests([ConformanceCase(case) for case in cases or _CASES], place=place, **given)
    if dry_run:
        click.echo(json_without_commands(json.dumps([*asked.values()], indent=2)))
        return
    _refuse_unwritable(file)
    instances = sum(each["ResourceConfig"]["InstanceCount"] for each in asked.values())
    minutes = max(each["StoppingCondition"]["MaxRuntimeInSeconds"] for each in asked.values()) // 60
    if not yes:
        text = f"{len(asked)} jobs on {instances} × {given['instance_type']} in all, each at most {minutes} minutes"
        click.confirm(f"{text}. Go on?", abort=True, err=True)
    with ended_by_signals():
        service = Service(profile=profile, region=region)
        folders = run_on_service(asked, service, place=place, folder=output, said=_say)
    _write_record(folders, file)


@command.command(
    "collect",
    examples=(
        ("smlocal conformance collect my-job --file record.json", "Write the record of a job."),
        ("smlocal conformance collect ./everything ./stopped", "Print the record of saved jobs."),
    ),
)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=completed_jobs)
@click.option(
    "--file",
    type=click.Path(readable=False),
    metavar="FILE",
    default="-",
    help='Record to write. Default: "-", standard output.',
)
def collect_command(*, sources: Sequence[str], file: str) -> None:
    """Make one record of several jobs.

    SOURCE is a job that ran here, the model.tar.gz or the log of a job, or a folder with these files and the answer of
    describe-training-job.
    """
    _write_record(sources, file)


@command.command(
    "diff",
    examples=(
        ("smlocal conformance diff conformance.json service.json", "Compare two records."),
        ("smlocal conformance diff conformance.json service.json --all", "Show expected differences too."),
    ),
)
@click.argument("first", metavar="A", shell_complete=completed_jobs)
@click.argument("second", metavar="B", shell_complete=completed_jobs)
@click.option("--all", "everything", is_flag=True, help="Show expected differences too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def diff(*, first: str, second: str, everything: bool, as_json: bool) -> int:
    """Show where two records differ.

    A and B are records, names of jobs that ran here, or what `collect` takes. Exits with 1 if they differ.
    """
    from smlocal.cli.views import record_differences as differences

    found = differences.compared(first, second, version=_version())
    if as_json:
        click.echo(json_without_commands(json.dumps(differences.difference_document(found, first, second), indent=2)))
    else:
        for line in differences.difference_lines(found, everything=everything):
            click.echo(printable(line))
        click.echo(printable(differences.conclusion(found, first, second)), err=True)
    return 1 if found.differences else 0


def _refuse_unwritable(file: str) -> None:
    """Before jobs that take minutes."""
    if file != "-":
        check_report_path(os.path.abspath(file))


def _write_record(sources: Sequence[str], file: str) -> None:
    """One record of all jobs."""
    document = collect(sources, version=_version())
    text = f"{json.dumps(document, indent=1, ensure_ascii=False)}\n"
    if file == "-":
        click.echo(text, nl=False)
        return

    try:
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise OutputUnusableError(
            f"{file} cannot be written: {error.strerror}", remedy=["Name another file with --file."]
        ) from error
    click.echo(file)


def _say(text: str) -> None:
    click.echo(printable(text), err=True)


def _version() -> str:
    from importlib.metadata import version

    return version("smlocal")

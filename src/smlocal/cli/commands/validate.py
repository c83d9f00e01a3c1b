"""`smlocal validate`: check job files without an engine."""

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from smlocal.base.ci.services import CiService
from smlocal.cli.ci_messages import annotated_errors, chosen_service, ci_option, file_of_repository, file_problems
from smlocal.cli.described_documents import allow_local_paths_option, use_described_request
from smlocal.cli.job_file_here import job_file_here
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.errors import error_document, show_error
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.errors import SmlocalError
from smlocal.jobfile.document import Document
from smlocal.jobs.finish.report_path import check_report_path, write_report
from smlocal.terms.masking import without_passwords

if TYPE_CHECKING:
    from smlocal.api.job_source import Validated
    from smlocal.base.ci.reports import Case

_MOST_SHOWN = 30
"""So many files with errors are shown, and so many warnings."""


@shown_command(
    "validate",
    examples=(
        ("smlocal validate job.yaml", "Check one job file."),
        ("smlocal validate *.yaml --junit jobs.xml", "Check all of them, with a report for CI."),
    ),
)
@click.argument("jobs", nargs=-1, type=click.Path(readable=False), metavar="[JOB...]")
@click.option("--strict", is_flag=True, help="Accept only what the service accepts: no local paths and no Local block.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--junit",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Write JUnit XML to FILE, with a case for each job file.",
)
@allow_local_paths_option
@ci_option
@click.pass_context
def command(
    ctx: click.Context,
    *,
    jobs: tuple[str, ...],
    strict: bool,
    as_json: bool,
    junit: str | None,
    allow_local_paths: bool,
    ci: str | None,
) -> int:
    """Check job files and report every problem.

    Needs neither an engine nor the network, and does not read data. JOB is a job file of any kind or a model file, in
    YAML or JSON; "-" is standard input. Default: the only one of job.yaml, job.yml and job.json in this folder.

    Exits with 0 if smlocal run, or smlocal deploy, would accept every file, and with 2 otherwise.
    """
    service = chosen_service(ci)
    if junit is not None:
        check_report_path(junit)
    began = time.time()
    found = []
    invalid = warnings = 0
    for path in dict.fromkeys(jobs or [job_file_here("Give a job file.")]):
        validated, seconds = _timed(path, strict=strict, allow_local_paths=allow_local_paths)
        found.append((validated, seconds))
        _show_warnings(validated.warnings[: max(0, _MOST_SHOWN - warnings)])
        warnings += len(validated.warnings)
        if validated.error is not None:
            invalid += 1
            if invalid <= _MOST_SHOWN:
                _show_error(validated, service, debug=ctx.obj["debug"])
    if as_json:
        files = [_document(validated) for validated, _ in found]
        click.echo(
            json_without_commands(
                json.dumps({"Validation": {"Valid": not invalid, "Strict": strict, "Files": files}}, indent=2)
            )
        )
    if junit is not None:
        _write_junit(junit, [_case(validated, seconds) for validated, seconds in found], began)
    for count, what in ((warnings, "warnings"), (invalid, "files that are not valid")):
        if count > _MOST_SHOWN:
            click.echo(f"… and {count - _MOST_SHOWN:,} more {what} (--json shows all)", err=True)
    click.echo(_conclusion(len(found), invalid), err=True)
    return max((validated.error.exit_code for validated, _ in found if validated.error is not None), default=0)


def _timed(path: str, *, strict: bool, allow_local_paths: bool) -> "tuple[Validated, float]":
    from smlocal.api.job_source import validate_file

    def prepare(document: "Document") -> None:
        use_described_request(
            document,
            lambda text: click.echo(f"! {printable(text)}", err=True),
            local=not strict,
            allow_local_paths=allow_local_paths,
        )

    began = time.monotonic()
    return validate_file(path, strict=strict, prepare=prepare), time.monotonic() - began


def _show_warnings(warnings: "Sequence[str]") -> None:
    for warning in warnings:
        click.echo(f"warning: {printable(warning)}", err=True)


def _show_error(validated: "Validated", service: "CiService | None", *, debug: bool) -> None:
    assert validated.error is not None  # noqa: S101 - for mypy
    try:
        with annotated_errors(service, validated.file):
            raise validated.error
    except SmlocalError as error:
        show_error(error, debug=debug, as_json=False)


def _conclusion(files: int, invalid: int) -> str:
    valid = files - invalid
    if files == 1:
        return "valid" if valid else "not valid"
    return f"{files:,} files: {f'{invalid:,} not valid' if invalid else 'all valid'}"


def _document(validated: "Validated") -> dict[str, Any]:
    document: dict[str, Any] = {"File": validated.file, "Valid": validated.error is None}
    if validated.error is not None:
        problems = file_problems(validated.error, validated.file)
        document["Problems"] = [
            {**({"Line": problem.line} if problem.line else {}), "Message": problem.text} for problem in problems
        ]
        document["Error"] = error_document(validated.error)
    if validated.warnings:
        document["Warnings"] = validated.warnings
    return document


def _case(validated: "Validated", seconds: float) -> "Case":
    from smlocal.base.ci.reports import Case, CaseVerdict

    error = validated.error
    problems = [] if error is None else file_problems(error, validated.file)
    return Case(
        name=validated.file,
        group="smlocal.validate",
        seconds=seconds,
        verdict=CaseVerdict.PASSED if error is None else CaseVerdict.FAILED,
        kind="" if error is None else error.id,
        message="" if error is None else without_passwords(error.sentence),
        text="" if error is None else without_passwords("\n".join((error.sentence, *error.details, *error.remedy))),
        output="\n".join(f"warning: {warning}" for warning in validated.warnings),
        file=file_of_repository(validated.file),
        line=problems[0].line if problems else 0,
    )


def _write_junit(path: str, cases: "list[Case]", began: float) -> None:
    from smlocal.base.ci.reports import Suite, junit

    write_report(path, junit([Suite(name="job files", cases=tuple(cases), began=began)]))

"""What commands write for CI services: annotations and groups in the log, a part of the summary, report files."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Self, TextIO

import click

from smlocal.base.quick_dataclass import dataclass
from smlocal.cli.shown_help import shown_option
from smlocal.errors import SmlocalError
from smlocal.jobfile.option import Head
from smlocal.jobs.contract.masking import without_passwords

if TYPE_CHECKING:
    from smlocal.base.ci.services import Annotation, CiService
    from smlocal.check.interface import CheckReport, Severity
    from smlocal.jobs.view import JobView

NAMES = ("github", "gitlab", "azure", "plain")
_FOUND_BY = ("GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD")
_LINE = re.compile(r":(\d+)(?::\d+)?(?=\s|$)")

ci_option = shown_option(
    "--ci",
    type=click.Choice(NAMES),
    help="Write the log commands of this CI service. Default: detected from the environment.",
    head=Head.RESULT,
)


def chosen_service(name: str | None) -> "CiService | None":
    """The CI service, by name or by its environment variables; None if there is none."""
    if name is None and not any(each in os.environ for each in _FOUND_BY):
        return None  # the usual case, in which nothing is imported
    from smlocal.base.ci.services import CiService, found_service

    service = CiService(name) if name is not None else found_service(os.environ)
    return None if service is CiService.PLAIN else service


@contextmanager
def annotated_errors(service: "CiService | None", file: str | None) -> Iterator[None]:
    """Annotate an error at the line of the file that it names; it is raised and shown as usual."""
    try:
        yield
    except SmlocalError as error:
        if service is not None:
            annotate(service, _error_annotations(error, file))
        raise


class LogGroup:
    """A part of the log that can be folded: what a job does and writes, without how it ended."""

    def __init__(self, service: "CiService | None", title: str) -> None:
        """Without a service, nothing is written."""
        self._service = service
        self._title = title

    def begin(self) -> None:
        """Write the line that begins it to standard error."""
        if self._service is not None:
            from smlocal.base.ci.services import group_begin

            # GitLab's lines are made of escapes, which click removes.
            click.echo(group_begin(self._service, self._title, time.time()), err=True, color=True)

    def end(self) -> str:
        """The line that ends it; empty without a service."""
        if self._service is None:
            return ""
        from smlocal.base.ci.services import group_end

        return group_end(self._service, self._title, time.time())


def annotate(service: "CiService", annotations: "Iterable[Annotation]", stream: TextIO | None = None) -> None:
    """Write annotations to a stream, by default standard error: the containers' output is on standard output."""
    from smlocal.base.ci.services import annotation_lines

    for line in annotation_lines(service, annotations):
        click.echo(line.encode("utf-8", "backslashreplace"), file=stream, err=stream is None)


def file_of_repository(path: str | None) -> str:
    """The path of a file in annotations; empty if it is not in the repository."""
    if not path:
        return ""
    from smlocal.base.ci.repository import in_repository, repository_root

    return in_repository(path, repository_root(os.environ, os.getcwd())) or ""


def add_summary(service: "CiService", text: str) -> None:
    """Add text to the summary page of the run, if the service has one."""
    from smlocal.base.ci.services import CiService

    try:
        if service is CiService.GITHUB and (path := os.environ.get("GITHUB_STEP_SUMMARY")):
            with open(path, "ab") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
        elif service is CiService.AZURE and (folder := os.environ.get("AGENT_TEMPDIRECTORY")):
            path = os.path.join(folder, f"smlocal-{os.getpid()}.md")
            with open(path, "wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
            click.echo(f"##vso[task.uploadsummary]{path}", err=True)
    except OSError as error:
        click.echo(f"the summary cannot be written: {error.strerror or error}", err=True)


def annotate_job(service: "CiService", view: "JobView", file: str | None) -> None:
    """Report how a job ended."""
    from smlocal.base.ci.services import Annotation, Level
    from smlocal.base.ci.summary import limited, table
    from smlocal.jobs.contract.statuses import JobStatus

    if view.status is not JobStatus.COMPLETED:
        text = "\n".join((view.reason or view.ended_as, *(f"hint: {hint}" for hint in view.local["Hints"])))
        annotate(
            service,
            [
                Annotation(
                    level=Level.ERROR,
                    title=f"training job {view.name}: {view.ended_as}",
                    message=text,
                    file=file_of_repository(file),
                )
            ],
        )
    head = ("training job", "status", "seconds", "failure reason")
    row = (view.name, view.state, f"{view.seconds:.1f}", view.reason)
    add_summary(service, limited([table(head, [row])]))


def _error_annotations(error: "SmlocalError", file: str | None) -> "Iterator[Annotation]":
    """One for each line of the file that the error names; one for the file, or for nothing, where it names none."""
    from smlocal.base.ci.services import Annotation, Level

    where = file_of_repository(file)
    title = f"smlocal: {error.id}"
    for problem in file_problems(error, file):
        yield Annotation(level=Level.ERROR, title=title, message=problem.text, file=where, line=problem.line)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileProblem:
    """One problem."""

    line: int
    """0 where the error names none."""
    text: str


def file_problems(error: SmlocalError, file: str | None) -> list[FileProblem]:
    """One for each line of the file that the error names; one with everything where it names none."""
    details = [without_passwords(detail) for detail in error.details if file and detail.startswith(file)]
    lines = filter(None, (_LINE.match(detail, len(file or "")) for detail in details))
    problems = [FileProblem(line=int(found[1]), text=found.string[found.end() :].strip()) for found in lines]
    everything = without_passwords("\n".join((error.sentence, *error.details, *error.remedy)))
    return problems or [FileProblem(line=0, text=everything)]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportPaths:
    """Files that can be written; None for what was not asked for."""

    junit: str | None
    sarif: str | None

    @classmethod
    def checked(cls, *, junit: str | None, sarif: str | None, anchor: str) -> Self:
        """Raise an error now for what could not be written at the end. Findings are put at the file `anchor`."""
        from smlocal.jobs.finish.report_files import check_report_path

        if sarif is not None and not file_of_repository(anchor or None):
            missing = f"{anchor} is not in it" if anchor else "name the Dockerfile with --dockerfile"
            raise click.UsageError(f"--sarif: each finding needs a file of the repository; {missing}.")
        paths = [os.path.abspath(path) for path in (junit, sarif) if path is not None]
        for path in paths:
            check_report_path(path)
        if len(set(paths)) < len(paths):
            raise click.UsageError("--junit and --sarif name the same file.")
        return cls(junit=junit, sarif=sarif)

    def write(self, report: "CheckReport", fail_on: "Severity") -> None:
        """Write each of them, completely or not at all."""
        from smlocal.jobs.finish.report_files import write_report

        if self.junit is not None:
            from smlocal.base.ci.junit import junit
            from smlocal.check.report_forms import check_suite

            write_report(self.junit, junit([check_suite(report, fail_on)]))
        if self.sarif is not None:
            from importlib.metadata import version

            from smlocal.check.report_forms import sarif

            write_report(self.sarif, sarif(report, version=version("smlocal"), place=file_of_repository))


def show_in_group(service: "CiService", title: str, show: Callable[[], None]) -> None:
    """Show a text in a part of the log that can be folded, and keep the service from obeying what is in it."""
    from smlocal.base.ci.services import group_begin, group_end, harmless

    with redirect_stdout(StringIO()) as shown:
        show()
    for line in (
        group_begin(service, title, time.time()),
        harmless(shown.getvalue()).removesuffix("\n"),
        group_end(service, title, time.time()),
    ):
        click.echo(line, color=True)  # GitLab's lines are made of escapes, which click removes


def annotate_check(service: "CiService", report: "CheckReport", *, to_stderr: bool) -> None:
    """Each finding at its line, and the whole check on the page of the run."""
    from smlocal.check.report_forms import check_annotations, check_summary

    annotate(service, check_annotations(report, file_of_repository), None if to_stderr else sys.stdout)
    add_summary(service, check_summary(report))

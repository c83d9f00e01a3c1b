"""What commands write for CI services: annotations and groups in the log, and a part of the summary."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

import click

from smlocal.base.ci.services import (
    Annotation,
    CiService,
    Level,
    annotation_lines,
    found_service,
    group_begin,
    group_end,
)
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.cli.shown_help import shown_option
from smlocal.errors import SmlocalError
from smlocal.jobfile.option import Head
from smlocal.terms.masking import without_passwords

NAMES = ("github", "gitlab", "azure", "plain")
_LINE = regex(r":(\d+)(?::\d+)?(?=\s|$)")

ci_option = shown_option(
    "--ci",
    type=click.Choice(NAMES),
    help="Write the log commands of this CI service. Default: detected from the environment.",
    head=Head.RESULT,
)


def chosen_service(name: str | None) -> CiService | None:
    """The CI service, by name or by its environment variables; None if there is none."""
    service = CiService(name) if name is not None else found_service(os.environ)
    return None if service is CiService.PLAIN else service


@contextmanager
def annotated_errors(service: CiService | None, file: str | None) -> Iterator[None]:
    """Annotate an error at the line of the file that it names; it is raised and shown as usual."""
    try:
        yield
    except SmlocalError as error:
        if service is not None:
            annotate(service, _error_annotations(error, file))
        raise


class LogGroup:
    """A part of the log that can be folded: what a job does and writes, without how it ended."""

    def __init__(self, service: CiService | None, title: str) -> None:
        """Without a service, nothing is written."""
        self._service = service
        self._title = title

    def begin(self) -> None:
        """Write the line that begins it to standard error."""
        if self._service is not None:
            # GitLab's lines are made of escapes, which click removes.
            click.echo(group_begin(self._service, self._title, time.time()), err=True, color=True)

    def end(self) -> str:
        """The line that ends it; empty without a service."""
        if self._service is None:
            return ""
        return group_end(self._service, self._title, time.time())


def annotate(service: CiService, annotations: Iterable[Annotation], stream: TextIO | None = None) -> None:
    """Write annotations to a stream, by default standard error: the containers' output is on standard output."""
    for line in annotation_lines(service, annotations):
        click.echo(line.encode("utf-8", "backslashreplace"), file=stream, err=stream is None)


def file_of_repository(path: str | None) -> str:
    """The path of a file in annotations; empty if it is not in the repository."""
    if not path:
        return ""
    from smlocal.base.ci.repository import in_repository, repository_root

    return in_repository(path, repository_root(os.environ, os.getcwd())) or ""


def add_summary(service: CiService, text: str) -> None:
    """Add text to the summary page of the run, if the service has one."""
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


def _error_annotations(error: SmlocalError, file: str | None) -> Iterator[Annotation]:
    """One for each line of the file that the error names; one for the file, or for nothing, where it names none."""
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

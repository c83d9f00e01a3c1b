"""What `smlocal check` writes for CI services: groups and annotations in the log, report files."""

import os
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Self

import click

from smlocal.base.ci.reports import junit
from smlocal.base.ci.services import CiService, group_begin, group_end, harmless
from smlocal.base.quick_dataclass import dataclass
from smlocal.check.interface import CheckReport, Severity
from smlocal.check.report_forms import check_annotations, check_suite, check_summary, sarif
from smlocal.cli.ci_messages import add_summary, annotate, file_of_repository
from smlocal.jobs.finish.report_path import check_report_path, write_report


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportPaths:
    """Files that can be written; None for what was not asked for."""

    junit: str | None
    sarif: str | None

    @classmethod
    def checked(cls, *, junit: str | None, sarif: str | None, anchor: str) -> Self:
        """Raise an error now for what could not be written at the end. Findings are put at the file `anchor`."""
        if sarif is not None and not file_of_repository(anchor or None):
            missing = f"{anchor} is not in it" if anchor else "name the Dockerfile with --dockerfile"
            raise click.UsageError(f"--sarif: each finding needs a file of the repository; {missing}.")
        paths = [os.path.abspath(path) for path in (junit, sarif) if path is not None]
        for path in paths:
            check_report_path(path)
        if len(set(paths)) < len(paths):
            raise click.UsageError("--junit and --sarif name the same file.")
        return cls(junit=junit, sarif=sarif)

    def write(self, report: CheckReport, fail_on: Severity) -> None:
        """Write each of them, completely or not at all."""
        if self.junit is not None:
            write_report(self.junit, junit([check_suite(report, fail_on)]))
        if self.sarif is not None:
            from importlib.metadata import version  # takes 10 ms

            write_report(self.sarif, sarif(report, version=version("smlocal"), place=file_of_repository))


def show_in_group(service: CiService, title: str, show: Callable[[], None]) -> None:
    """Show a text in a part of the log that can be folded, and keep the service from obeying what is in it."""
    with redirect_stdout(StringIO()) as shown:
        show()
    for line in (
        group_begin(service, title, time.time()),
        harmless(shown.getvalue()).removesuffix("\n"),
        group_end(service, title, time.time()),
    ):
        click.echo(line, color=True)  # GitLab's lines are made of escapes, which click removes


def annotate_check(service: CiService, report: CheckReport, *, to_stderr: bool) -> None:
    """Each finding at its line, and the whole check on the page of the run."""
    annotate(service, check_annotations(report, file_of_repository), None if to_stderr else sys.stdout)
    add_summary(service, check_summary(report))

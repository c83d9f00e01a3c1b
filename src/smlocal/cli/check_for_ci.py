"""What `smlocal check` writes for CI services: report files, annotations, a group in the log, a summary."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

import click

from smlocal.cli.ci_messages import add_summary, annotate, file_of_repository
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.check.interface import CheckReport, Severity
    from smlocal.ci.services import CiService


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportPaths:
    """Files that can be written; None for what was not asked for."""

    junit: str | None
    sarif: str | None

    @classmethod
    def checked(cls, *, junit: str | None, sarif: str | None, anchor: str) -> Self:
        """Raise an error now for what could not be written at the end. Findings are put at the file `anchor`."""
        from smlocal.job.finish.report_files import check_report_path

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
        from smlocal.job.finish.report_files import write_report

        if self.junit is not None:
            from smlocal.check.report_forms import check_suite
            from smlocal.ci.junit import junit

            write_report(self.junit, junit([check_suite(report, fail_on)]))
        if self.sarif is not None:
            from importlib.metadata import version

            from smlocal.check.report_forms import sarif

            write_report(self.sarif, sarif(report, version=version("smlocal"), place=file_of_repository))


def show_in_group(service: "CiService", title: str, show: Callable[[], None]) -> None:
    """Show a text in a part of the log that can be folded, and keep the service from obeying what is in it."""
    import time
    from contextlib import redirect_stdout
    from io import StringIO

    from smlocal.ci.services import group_begin, group_end, harmless

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

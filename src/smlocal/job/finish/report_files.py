"""Writes the result of a job to files that the user chooses, completely or not at all."""

import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress

from smlocal.base.files import replace_file
from smlocal.errors import JobUnknownError, OutputUnusableError, SmlocalError
from smlocal.job.documents import REPORT_FILES
from smlocal.job.finish.describe import describe_job
from smlocal.job.finish.report_paths import ReportFiles
from smlocal.store.jobs import Store


def write_report_files(files: ReportFiles, store: Store, name: str, *, run_id: str) -> list[SmlocalError]:
    """Write them, if this run made a job. Returns what could not be written, to be shown after the summary."""
    written = (
        _write(files.result, store, name, run_id, lambda: _result(store, name)),
        _write(files.junit, store, name, run_id, lambda: _junit(store, name)),
    )
    return [error for error in written if error is not None]


def write_recorded_report_files(store: Store, name: str) -> None:
    """For a job that another process has begun. An error is nowhere to be shown: `describe` has all that they say."""
    recorded = store.document(name, REPORT_FILES)
    if recorded is not None:
        files = ReportFiles(result=recorded["Result"], junit=recorded["JUnit"])
        write_report_files(files, store, name, run_id=store.get(name).run_id)


def check_report_path(path: str) -> None:
    """Raise `OutputUnusableError` if a report could not be written; called before the job runs."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise OutputUnusableError(f"the report {path} cannot be written: it is a folder", remedy=["Name a file in it."])
    if not os.path.isdir(folder):
        raise OutputUnusableError(
            f"the report {path} cannot be written: there is no folder {os.path.dirname(path) or folder}",
            remedy=["Make the folder first."],
        )
    if not os.access(folder, os.W_OK | os.X_OK) and not _special(path):
        raise OutputUnusableError(
            f"the report {path} cannot be written: no right to write to {os.path.dirname(path) or folder}",
            remedy=["Choose another file."],
        )


def write_report(path: str, text: str) -> None:
    """Write a report, or raise `OutputUnusableError`."""
    check_report_path(path)
    data = text.encode()
    try:
        if _special(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            replace_file(os.path.realpath(path), data, synced=True)
    except OSError as error:
        raise OutputUnusableError(f"the report {path} cannot be written: {error.strerror or error}") from error


def _result(store: Store, name: str) -> str:
    return f"{json.dumps(describe_job(store, name, final=True), indent=2)}\n"


def _junit(store: Store, name: str) -> str:
    from smlocal.ci.junit import junit
    from smlocal.job.finish.job_case import job_suite

    return junit([job_suite(store, (name,))])


def _write(path: str | None, store: Store, name: str, run_id: str, text: Callable[[], str]) -> SmlocalError | None:
    if path is None:
        return None
    try:
        # Another job may have the name: this run did not make one then.
        with suppress(JobUnknownError):
            if store.get(name).run_id == run_id:
                write_report(path, text())
    except SmlocalError as error:
        return error
    return None


def _special(path: str) -> bool:
    """True for terminals, pipes and devices such as /dev/stderr, which a rename would replace by a file."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False

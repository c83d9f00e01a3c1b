"""Writes reports to files that the user chooses, completely or not at all."""

import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress

from smlocal.errors import JobUnknownError, OutputUnusableError, SmlocalError
from smlocal.job.finish.describe import describe_job
from smlocal.planning.model import JobPlan
from smlocal.store.jobs import Store


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
            _replace(os.path.realpath(path), data)
    except OSError as error:
        raise OutputUnusableError(f"the report {path} cannot be written: {error.strerror or error}") from error


def write_result(path: str, store: Store, plan: JobPlan) -> SmlocalError | None:
    """Write the describe answer of a run, if it made a job. An error is returned, to be shown after the summary."""
    return _write(path, store, plan, lambda: f"{json.dumps(describe_job(store, plan.name), indent=2)}\n")


def write_job_junit(path: str, store: Store, plan: JobPlan) -> SmlocalError | None:
    """The same as JUnit XML with one case."""

    def text() -> str:
        from smlocal.ci.junit import junit
        from smlocal.report.job_case import job_suite

        return junit([job_suite(store, (plan.name,))])

    return _write(path, store, plan, text)


def _write(path: str, store: Store, plan: JobPlan, text: Callable[[], str]) -> SmlocalError | None:
    try:
        # Another job may have the name: this run did not make one then.
        with suppress(JobUnknownError):
            if store.get(plan.name).run_id == plan.run_id:
                write_report(path, text())
    except SmlocalError as error:
        return error
    return None


def _replace(path: str, data: bytes) -> None:
    folder, name = os.path.split(path)
    draft = os.path.join(folder, f".{name[:200]}.{os.getpid()}.partial")
    try:
        with open(draft, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _special(path: str) -> bool:
    """True for terminals, pipes and devices such as /dev/stderr, which a rename would replace by a file."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False

"""The training jobs of one test: the value of the fixture `training_job`; and names of what this run makes."""

import os
import re
import secrets
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Self, Unpack

import pytest

import smlocal
from smlocal.api.artifact import Artifact
from smlocal.api.job_source import JobSource
from smlocal.api.keywords import check_keywords
from smlocal.api.overrides import Overrides
from smlocal.errors import EngineForbiddenError, EngineUnreachableError, JobUnknownError, NameInUseError, SmlocalError

_LONGEST_NAME = 63
_RUN = secrets.token_hex(4)
"""The id of this run of pytest, where xdist gives it none."""
_COUNTER = pytest.StashKey[list[int]]()


def prefix() -> str:
    """The beginning of all names of this run."""
    return f"pytest-{os.environ.get('PYTEST_XDIST_TESTRUNUID', _RUN)[:8]}-"


def unique_name(config: pytest.Config, test: str) -> str:
    """A name from the run, the worker and the test."""
    counter = config.stash.setdefault(_COUNTER, [0])
    counter[0] += 1
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    words = re.sub(r"[^a-zA-Z0-9]+", "-", test).strip("-")
    name = "-".join(each for each in (worker, str(counter[0]), words) if each)
    return f"{prefix()}{name}"[:_LONGEST_NAME].rstrip("-")


def exists(name: str) -> bool:
    """True if smlocal has a job or an endpoint of this name."""
    try:
        smlocal.TrainingJob(name)
    except JobUnknownError:
        return False
    return True


def explained(error: SmlocalError) -> SmlocalError:
    """The error without its place in smlocal, and with notes that say where the mistake is and how to correct it."""
    for line in (*error.details, *error.remedy):
        error.add_note(line)
    return error.with_traceback(None)


_LINES = 20
"""The lines of a job's log in the report of a failed test."""
_REFUSED = {
    "detach": "training_job returns when the job has ended",
    "replace": "a job that has the name already is not a job of this test",
    "show": "`pytest -s` shows jobs while they run",
}
"""Keywords of `smlocal.run` that are not accepted here, and why."""


class FinishedJob:
    """The result of `training_job(...)`. `job` is its `smlocal.TrainingJob`, for everything else."""

    def __init__(self, name: str) -> None:
        """The job of this name has ended."""
        self.job = smlocal.TrainingJob(name)
        self.name = name
        self.status = str(self.job.status)
        """`Completed`, `Failed` or `Stopped`."""
        self.failure_reason = self.job.failure_reason
        """None, or the FailureReason of the service."""

    def __repr__(self) -> str:
        return f"<training job {self._outcome()}>"

    @property
    def logs(self) -> str:
        """Everything that the containers wrote, as the service's log shows it."""
        return "\n".join(self.job.logs())

    @property
    def model(self) -> "Artifact":
        """The model: `model.names()`, `model.read("file")`, `model.open()`. An `AssertionError` when there is none."""
        __tracebackhide__ = True
        model = self.job.model
        if model is None:
            raise AssertionError(f"no model was written by training job {self._outcome()}")
        return model

    @property
    def metrics(self) -> dict[str, list[float]]:
        """The values that MetricDefinitions found: all of each metric, in order."""
        metrics = self.job.metrics
        found: dict[str, list[float]] = {each.name: [] for each in metrics.definitions}
        for value in metrics.values():
            found[value.name].append(value.value)
        return found

    def assert_completed(self) -> "Self":
        """Fail unless the job is `Completed`; returns itself."""
        __tracebackhide__ = True
        if self.status != "Completed":
            raise AssertionError(f"training job {self._outcome()}")
        return self

    def _outcome(self) -> str:
        reason = f": {self.failure_reason}" if self.failure_reason else ""
        secondary = str(self.job.secondary_status)
        return f"{self.name} is {self.status}{reason or ('' if secondary == self.status else f' ({secondary})')}"


class TrainingJobs:
    """Runs jobs for one test, and knows them afterwards."""

    def __init__(self, config: pytest.Config, test: str, folders: pytest.TempPathFactory) -> None:
        """Nothing happens before the first job."""
        self._config = config
        self._test = test
        self._folders = folders
        self._names: list[str] = []

    def __call__(
        self, job: "JobSource | None" = None, *, strict: bool = False, **overrides: "Unpack[Overrides]"
    ) -> FinishedJob:
        """Run a job to its end, as `smlocal.run` does. Without an engine the test is skipped, or fails.

        Its name has the id of this run of pytest in it, and its artifacts go to a folder of pytest's, unless keywords
        say otherwise.
        """
        __tracebackhide__ = True  # the test's own line is shown
        for keyword in overrides:
            if keyword in _REFUSED:
                raise TypeError(f"training_job does not accept {keyword!r}: {_REFUSED[keyword]}")
        check_keywords(overrides, others=["strict"])
        name = overrides.get("name") or unique_name(self._config, self._test)
        overrides["name"] = name
        if overrides.get("output") is None:
            overrides["output"] = self._folders.mktemp("training-job")
        if not exists(name):  # a job of that name is not one of ours: it is refused, and stays
            self._names.append(name)
        try:
            smlocal.run(job, strict=strict, show=self._config.getoption("capture") == "no", **overrides)
        except (EngineUnreachableError, EngineForbiddenError) as error:
            if not self._config.getoption("--smlocal-required"):
                pytest.skip(f"no container engine: {error}")
            raise explained(error) from None
        except SmlocalError as error:
            if isinstance(error, NameInUseError):  # another process was faster
                self._names = [each for each in self._names if each != name]
                error.remedy = (
                    "Choose another name, or give none: training_job then makes up a unique one.",
                    f"To remove the other job, if it has ended: smlocal rm {name}",
                )
            raise explained(error) from None
        return FinishedJob(name)

    def sections(self) -> "list[tuple[str, str]]":
        """A title and a text for each job: how it ended, and the end of its log."""
        return [(f"training job {job.name}: {job.status}", "\n".join(self._shown(job))) for job in self._made()]

    def remove(self) -> None:
        """Forget the jobs. Artifacts stay until pytest removes its folders."""
        for job in self._made():
            job.remove(stop=True)

    def _made(self) -> "Iterator[smlocal.TrainingJob]":
        for name in dict.fromkeys(self._names):
            with suppress(JobUnknownError):  # it was refused, or the test has removed it
                yield smlocal.TrainingJob(name)

    def _shown(self, job: smlocal.TrainingJob) -> "Iterator[str]":
        if job.failure_reason is not None:
            yield job.failure_reason
        for hint in job.describe()["Local"].get("Hints") or ():
            yield f"hint: {hint}"
        lines = deque(job.logs(), maxlen=_LINES)
        yield "--- the end of its log" if lines else "--- its log is empty"
        yield from lines
        if self._config.getoption("--smlocal-keep") != "none":
            yield f"--- more: smlocal describe {job.name}; smlocal logs {job.name}"
            pattern = f"'{prefix()}*'"
            if job.name.startswith(prefix()):
                yield f"--- to remove all jobs of this run: smlocal rm {pattern}"
            else:
                yield f"--- to remove it and all jobs that this run has named: smlocal rm {job.name} {pattern}"

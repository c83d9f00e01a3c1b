"""`smlocal.TrainingJob`: a job that was made on this machine, by whatever process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from smlocal.api.artifact import Artifact
    from smlocal.contract.outcome.statuses import SecondaryStatus, TrainingJobStatus
    from smlocal.job.metrics.job_metrics import JobMetrics
    from smlocal.store.jobs import Store


class TrainingJob:
    """A job by its name. Nothing is kept of it here: each question is answered from the store, as it is now.

    Safe to share between threads. An unfinished job whose supervisor was killed gets a new one when it is looked at.
    """

    def __init__(self, name: str) -> None:
        """`JobUnknownError` when there is no such job."""
        from smlocal.store.home import home_directory

        self.name = name
        self._home = home_directory()
        with self._store():
            pass

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def status(self) -> "TrainingJobStatus":
        """TrainingJobStatus: `InProgress`, `Stopping`, `Completed`, `Failed` or `Stopped`; a string."""
        with self._store() as store:
            return store.get(self.name).status

    @property
    def secondary_status(self) -> "SecondaryStatus":
        """SecondaryStatus, such as `Downloading`; a string."""
        with self._store() as store:
            return store.get(self.name).secondary_status

    @property
    def failure_reason(self) -> str | None:
        """FailureReason of a job that failed."""
        with self._store() as store:
            return store.get(self.name).failure_reason

    def describe(self, *, service: bool = False) -> dict[str, Any]:
        """The DescribeTrainingJob answer, with a `Local` block; with `service` exactly the service's answer."""
        from smlocal.job.finish.describe import describe_job

        with self._store() as store:
            return describe_job(store, self.name, service=service)

    def logs(self, *, follow: bool = False, host: str | None = None, raw: bool = False) -> Iterator[str]:
        """The lines that the containers wrote, from the first one, without their ends.

        They are as the service's log shows them (a TAB is #011), or as they were written with `raw`. `follow` goes on
        until the job has ended. Several hosts follow each other, or mix with `follow`, and each line begins with its
        host (`algo-1 | `); `host` chooses one.
        """
        from smlocal.api.log_lines import chosen_logs, lines

        with self._store() as store:
            chosen = chosen_logs(store, self.name, host)

        def read() -> Iterator[str]:
            with self._store() as store:
                yield from lines(store, self.name, chosen, follow=follow, raw=raw)

        return read()

    def wait(self, timeout: float | None = None) -> Self:
        """Wait until the job has ended; `WaitTimeoutError` after `timeout` seconds."""
        from smlocal.api.waiting import ended

        with self._store() as store:
            for _ in ended(store, [self.name], timeout=timeout):
                pass
        return self

    def stop(self, *, grace: float | None = None) -> None:
        """What StopTrainingJob does: SIGTERM, `grace` seconds (else as the job says, 120), SIGKILL.

        Returns once the stop is recorded. `JobFinishedError` when the job has ended already.
        """
        from smlocal.api.stopping import stop

        with self._store() as store:
            stop(store, self.name, grace=grace)

    def remove(self, *, stop: bool = False) -> None:
        """Forget the job and its logs; artifacts in the output folder stay. What is asked of it then is an error.

        `JobNotFinishedError` for a job that has not ended; `stop` kills it first, and waits until it has.
        """
        from smlocal.api.removing import remove

        with self._store() as store:
            remove(store, self.name, stop=stop)

    @property
    def model(self) -> "Artifact | None":
        """`model.tar.gz`; None when none was written, or not yet."""
        return self._artifact("Model")

    @property
    def output(self) -> "Artifact | None":
        """`output.tar.gz`; None when none was written, or not yet."""
        return self._artifact("Output")

    @property
    def metrics(self) -> "JobMetrics":
        """What MetricDefinitions found by now: `summaries()`, `values()` and `notes`."""
        from smlocal.job.metrics.job_metrics import job_metrics

        with self._store() as store:
            return job_metrics(store, self.name)

    def _artifact(self, kind: str) -> "Artifact | None":
        from smlocal.api.artifact import Artifact

        found = self.describe()["Local"].get("Artifacts") or {}
        path = found.get(kind)
        return None if path is None else Artifact(path=path, size=found[f"{kind}Bytes"])

    @contextmanager
    def _store(self) -> "Iterator[Store]":
        from smlocal.job.control.orphans import see_to
        from smlocal.store.jobs import Store

        with Store.open(self._home) as store:
            see_to(store, self.name)
            yield store

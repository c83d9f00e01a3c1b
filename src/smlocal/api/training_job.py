"""`smlocal.TrainingJob`: a job that was made on this machine, by any process."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, Unpack

from smlocal.api.job_names import host_in_job
from smlocal.api.logs import log_lines
from smlocal.jobs.control.orphans import ensure_supervised
from smlocal.jobs.finish.describe import describe_job, view_job
from smlocal.jobs.kinds import Spoken, showing, spoken_of
from smlocal.jobs.logs.log_readers import host_logs
from smlocal.jobs.metrics.job_metrics import JobMetrics, job_metrics
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import supervised
from smlocal.jobs.view import JobView
from smlocal.terms.rights import EVERYTHING
from smlocal.terms.statuses import JobPhase, JobStatus

if TYPE_CHECKING:
    from smlocal.api.artifact import Artifact
    from smlocal.api.overrides import Overrides
    from smlocal.jobs.finish.publish import PublishResult


class TrainingJob:
    """A job by its name. This object keeps only the name: everything else is read from the store when it is asked for.

    Safe to share between threads. An unfinished job whose supervisor was killed gets a new one with the next call.
    """

    def __init__(self, name: str) -> None:
        """`JobUnknownError` if there is no such job."""
        self.name = name
        self._home = home_directory()
        with self._store(adopting=False) as store:
            store.get(name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def status(self) -> JobStatus:
        """TrainingJobStatus: `InProgress`, `Stopping`, `Completed`, `Failed` or `Stopped`; a string."""
        with self._store() as store:
            return store.get(self.name).status

    @property
    def secondary_status(self) -> JobPhase:
        """SecondaryStatus, such as `Downloading`; a string."""
        with self._store() as store:
            return store.get(self.name).phase

    @property
    def failure_reason(self) -> str | None:
        """FailureReason of a job that failed."""
        with self._store() as store:
            return store.get(self.name).failure_reason

    def describe(self, *, service: bool = False) -> dict[str, Any]:
        """The DescribeTrainingJob answer, with a `Local` block; with `service` exactly the service's answer."""
        with self._store() as store:
            return describe_job(store, self.name, service=service)

    @property
    def state(self) -> str:
        """The state in the words of the job's platform: for a CreateTrainingJob request its TrainingJobStatus."""
        with self._store() as store:
            record = store.get(self.name)
        return showing(record.platform).words(record)[0]

    def view(self) -> JobView:
        """The data for the screens."""
        with self._store() as store:
            return view_job(store, self.name)

    def described_rows(self, view: JobView, *, detailed: bool = False) -> Iterable[tuple[str, str]]:
        """The output of `smlocal describe`, in the words of its platform; `detailed`: with `--verbose`."""
        with self._store() as store:
            platform = showing(store.get(self.name).platform)
        rows = [*platform.described_rows(view, supervised=self.supervised)]
        engines = {*(view.local.get("Placement") or {}).values()}
        if len(engines) == 1:
            place = next((index for index, (head, _) in enumerate(rows) if head == "Created"), len(rows))
            rows.insert(place, ("Engine", *engines))
        return [*rows, *platform.detailed_rows(view)] if detailed else rows

    @property
    def supervised(self) -> bool:
        """True while a process supervises the job."""
        with self._store() as store:
            return supervised(store.directory(self.name))

    @property
    def log_files(self) -> dict[str, str]:
        """The path of each host's log, as its container wrote it. A file exists once its host has started."""
        with self._store() as store:
            return host_logs(store, self.name)

    @property
    def spoken(self) -> Spoken:
        """How sentences speak of this job: in the words of its platform."""
        with self._store(adopting=False) as store:
            return spoken_of(store.get(self.name))

    def host_named(self, text: str) -> str:
        """The name of a host by its number, or by another name that the job's platform has for it.

        `HostUnknownError` if there is none.
        """
        with self._store() as store:
            return host_in_job(store, self.name, text)

    def logs(self, *, follow: bool = False, host: str | None = None, raw: bool = False) -> Iterator[str]:
        """The lines that the containers wrote, from the first one, without their ends.

        They are as the service's log shows them (a TAB is #011), or as they were written with `raw`. `follow` goes on
        until the job has ended. Several hosts follow each other, or mix with `follow`, and each line begins with its
        host (`algo-1 | `); `host` chooses one.
        """
        files = self.log_files
        if host is not None:
            chosen = self.host_named(host)
            files = {chosen: files[chosen]}
        return log_lines(self.name, files, follow=follow, raw=raw, home=self._home)

    def wait(self, timeout: float | None = None) -> Self:
        """Wait until the job has ended; `WaitTimeoutError` after `timeout` seconds."""
        from smlocal.api.stopping import wait_for_jobs

        wait_for_jobs([self.name], timeout=timeout, home=self._home)
        return self

    def stop(self, *, grace: float | None = None, on_message: Callable[[str], None] = lambda _: None) -> None:
        """Stop the job as StopTrainingJob does: SIGTERM, `grace` seconds (else as the job says, 120), SIGKILL.

        Returns once the stop is recorded. `JobFinishedError` when the job has ended already.
        """
        from smlocal.api.stopping import stop

        # An orphan gets its supervisor only when the stop is recorded: a program that has ended would complete the job.
        with self._store(adopting=False) as store:
            stop(store, self.name, grace=grace, on_message=on_message)

    def rerun(
        self,
        *,
        detach: bool = False,
        replace: bool = False,
        show: bool = False,
        strict: bool = False,
        **overrides: "Unpack[Overrides]",
    ) -> "TrainingJob":
        """Run the recorded request again under a new name, as `smlocal rerun` does; returns the new job.

        The keywords are those of `smlocal.run`, and override the request.
        """
        from smlocal.api.run_job import rerun_job

        return TrainingJob(rerun_job(self.name, overrides, detach=detach, replace=replace, show=show, strict=strict))

    def interrupt(self) -> None:
        """Simulate a spot interruption. The job must be training, with EnableManagedSpotTraining."""
        from smlocal.jobs.control.requests import ask_to_interrupt

        with self._store() as store:
            ask_to_interrupt(store, self.name)

    def remove(
        self,
        *,
        stop: bool = False,
        force: bool = False,
        abandon: bool = False,
        on_message: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Remove the job and its logs. Artifacts in the output folder stay. Afterwards there is no such job.

        `JobNotFinishedError` for a job that has not ended; `stop` kills it first, and waits until it has. `force` also
        removes a job that may have left containers on an engine that cannot be reached, and `abandon` also one that has
        not ended and whose engine is gone for good. `on_message` gets messages.
        """
        from smlocal.api.removing import remove

        with self._store() as store:
            remove(store, self.name, stop=stop, force=force, abandon=abandon, on_message=on_message)

    def report(self) -> str:
        """The HTML page of `smlocal report`."""
        from smlocal.report.page import job_page

        with self._store() as store:
            return job_page(store, self.name, time.time())

    def pack(self, *, output: "str | os.PathLike[str] | None" = None) -> dict[str, Any]:
        """Pack what the job could not pack when it ended, to its output folder or below another one.

        Returns `Local.Artifacts` of `describe()`. `NothingToPackError` if everything is packed.
        """
        from smlocal.jobs.finish.artifacts import pack_again
        from smlocal.jobs.planning.aspects.output.look import folder_at

        folder = None if output is None else folder_at(os.fspath(output), os.getcwd(), EVERYTHING)
        with self._store() as store:
            return pack_again(store, self.name, output=folder)

    def publish(
        self,
        *,
        progress: Callable[[str], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> "PublishResult":
        """Upload the artifacts of the finished job to its S3OutputPath; the result's `objects` are those in S3.

        `progress` is called with messages. Once `cancelled` returns true, the upload ends. The result then has
        `cancelled` set, too.
        """
        from smlocal.jobs.finish.publish import publish_again

        with self._store() as store:
            return publish_again(store, self.name, working=progress, cancelled=cancelled)

    @property
    def model(self) -> "Artifact | None":
        """`model.tar.gz`. None if none was written, or not yet."""
        return self._artifact("Model")

    @property
    def output(self) -> "Artifact | None":
        """`output.tar.gz`. None if none was written, or not yet."""
        return self._artifact("Output")

    @property
    def metrics(self) -> JobMetrics:
        """The values that MetricDefinitions have found so far: `summaries()`, `values()` and `notes`."""
        with self._store() as store:
            return job_metrics(store, self.name)

    def _artifact(self, kind: str) -> "Artifact | None":
        from smlocal.api.artifact import Artifact

        found = self.describe()["Local"].get("Artifacts") or {}
        path = found.get(kind)
        return None if path is None else Artifact(path=path, size=found[f"{kind}Bytes"])

    @contextmanager
    def _store(self, *, adopting: bool = True) -> Iterator[Store]:
        with Store.open(self._home) as store:
            if adopting:
                ensure_supervised(store, self.name)
            yield store

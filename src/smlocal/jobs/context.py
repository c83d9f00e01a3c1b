"""The shared state of one job: its store, its events, and its phase.

One call changes the phase in the store, on the clock and on the screen, with details beside it when it has ended.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import readable_bytes
from smlocal.engine.engines import Engines
from smlocal.engine.interface import Engine
from smlocal.jobs.control.requests import StopRequests, StoredRequests
from smlocal.jobs.decide.attempt_outcome import AttemptOutcome
from smlocal.jobs.decide.events import EventQueue, Woken
from smlocal.jobs.history import STOP
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord, Transition
from smlocal.jobs.view import Reporter
from smlocal.terms.channels import Means
from smlocal.terms.listing import Listing
from smlocal.terms.statuses import FailureKind, JobPhase, JobStatus, PhaseMessage, StopCause

if TYPE_CHECKING:
    from smlocal.data.artifacts.job_artifacts import Artifacts
    from smlocal.data.artifacts.s3_publish import PublishResult
else:
    Artifacts = at_use("smlocal.data.artifacts.job_artifacts", "Artifacts")


@dataclass(kw_only=True, slots=True)
class Phases:
    """The phases of one job and how long each took."""

    store: Store
    job: str
    reporter: Reporter
    events: EventQueue
    stopping: bool = False
    """Once a stop is recorded, the status stays `Stopping` in all later phases."""
    seconds: dict[str, float] = field(default_factory=dict)
    _current: JobPhase | None = None
    _began: float = 0.0
    _ended: float | None = None
    """When the phase ended, by the wall clock, if that was before this process looked."""

    def begin(self) -> None:
        """Begin the first phase; the store has it since the job was created."""
        self._set(JobPhase.STARTING, time.time())

    def resume(self, past: Sequence[Transition], *, stopping: bool, ended: float | None) -> None:
        """Continue in the last of these phases, in which an earlier supervisor died.

        `ended`: when that phase ended, by the wall clock, if it has.
        """
        self.stopping = stopping
        *earlier, current = past
        for phase in earlier:
            self._count(phase.status, (phase.ended or phase.started) - phase.started)
        self._set(current.status, current.started)
        if ended is not None:
            self._ended = max(current.started, min(ended, time.time()))

    def enter(self, phase: JobPhase, message: PhaseMessage, *, started: bool = False, ended: bool = False) -> None:
        """Begin the next phase; `started` and `ended` set the start and the end of the training."""
        self.leave()
        at = time.time() if self._ended is None else self._ended
        self.stopping = self.stopping or phase is JobPhase.STOPPING
        record = self.store.transition(
            self.job,
            status=self._status,
            phase=phase,
            message=message,
            at=at,
            start_training=started,
            ended=ended,
        )
        self._look_for_stop(record)
        self._set(phase, at)

    def go_on(self) -> None:
        """The phase has not ended after all: a container was started again."""
        self._ended = None

    def change_message(self, message: PhaseMessage) -> None:
        """Change the message of the phase: the service shows the latest one."""
        if self._current is not None:
            at = time.time()
            record = self.store.transition(self.job, status=self._status, phase=self._current, message=message, at=at)
            self._look_for_stop(record)

    def leave(self, detail: str = "", *, good: bool = True) -> None:
        """End the current phase, if there is one."""
        if self._current is None:
            return
        already_over = 0.0 if self._ended is None else time.time() - self._ended
        seconds = max(0.0, time.monotonic() - self._began - already_over)
        self._count(self._current, seconds)
        self.reporter.phase_ended(self._current, seconds, detail, good=good)
        self._current = None

    def _look_for_stop(self, record: JobRecord) -> None:
        """A stop is stored before this process is woken. It may be found here first."""
        if record.status is JobStatus.STOPPING and not self.stopping:
            self.events.put(Woken())

    @property
    def _status(self) -> JobStatus:
        return JobStatus.STOPPING if self.stopping else JobStatus.IN_PROGRESS

    def _count(self, phase: JobPhase, seconds: float) -> None:
        self.seconds[phase] = round(self.seconds.get(phase, 0.0) + seconds, 3)

    def _set(self, phase: JobPhase, at: float) -> None:
        """`at`: when the phase began, by the wall clock."""
        self._current, self._ended = phase, None
        self._began = time.monotonic() - max(0.0, time.time() - at)
        self.reporter.phase_began(phase)


@dataclass(kw_only=True, slots=True)
class Context:
    """One job's store, reporter, events and phases."""

    job: str
    store: Store
    reporter: Reporter
    events: EventQueue
    stop_requests: StopRequests
    stored_requests: StoredRequests
    phases: Phases
    created: float
    """When the job was created, by the wall clock. The limit on the wait starts here."""

    def record(self, kind: str, data: Mapping[str, object]) -> None:
        """Add an event of this supervisor to the job's history."""
        self.store.add_event(self.job, time.time(), kind, {**data, "By": self.stored_requests.token})

    def record_stop(self, cause: StopCause, grace: float) -> None:
        """Record a stop and the new status in one transaction, before anything is done about it."""
        data = {"Cause": cause, "Grace": grace, "By": self.stored_requests.token}
        self.store.add_request(self.job, at=time.time(), kind=STOP, data=data, stopping=PhaseMessage.STOPPING)
        self.phases.enter(JobPhase.STOPPING, PhaseMessage.STOPPING)


@dataclass(kw_only=True, slots=True)
class ContainerContext(Context):
    """The same for a job with containers, and the engines that run them."""

    engines: Engines
    training_seconds: float = 0.0
    """Seconds of earlier attempts. The limit on the run time covers all attempts."""

    @classmethod
    def of(cls, context: Context, engines: Engines) -> "ContainerContext":
        """The same tools, and these engines."""
        return cls(engines=engines, **{each.name: getattr(context, each.name) for each in fields(Context)})

    @property
    def engine(self) -> Engine:
        """The only engine, or the first of several."""
        return self.engines.first

    def deadlines(self, *, max_runtime: float, max_wait: float | None) -> Mapping[StopCause, float]:
        """When the two time limits of the job run out, by the monotonic clock."""
        now = time.monotonic()
        deadlines = {StopCause.MAX_RUNTIME: now + max_runtime - self.training_seconds}
        if max_wait is not None:
            deadlines[StopCause.MAX_WAIT] = now + max_wait - (time.time() - self.created)
        return deadlines


def new_token() -> str:
    """A mark that no other supervisor has."""
    return f"{os.getpid()}-{os.urandom(4).hex()}"


_HOW = {
    Means.OVERLAY: "copy-on-write of",
    Means.REFLINK: "reflink copy of",
    Means.COPY: "copy of",
    Means.BIND: "view of",
    Means.SENT: "sent from",
    Means.FUSE: "streamed from",
}


def download_details(plan: JobPlan, runs: Iterable[HostRun]) -> str:
    """Each channel with its size and how it was brought."""
    parts: dict[str, str] = {}
    for run in runs:
        trees = [*run.host.inputs.trees, *([plan.inputs.code] if plan.inputs.code is not None else [])]
        for tree, staged in zip(trees, run.staged, strict=False):
            parts.setdefault(tree.name, _part(tree.name, tree.listing, _HOW[staged.means], file_system=tree.mode))
        for pipe in run.host.inputs.pipes:
            parts.setdefault(pipe.name, _part(pipe.name, pipe.listing, "piped from"))
    return " · ".join(parts.values())


def _part(name: str, listing: Listing, how: str, *, file_system: str = "") -> str:
    count = len(listing.paths)
    size = "" if listing.total_bytes is None else f", {readable_bytes(listing.total_bytes)}"
    if listing.remote:
        where = listing.bucket_uri + listing.prefix
    else:
        where = os.path.relpath(listing.root)
        where = where if where.startswith("..") else f"./{where}"
        if not listing.whole_tree:
            where = f"{where}/{listing.paths[0]}" if count == 1 else f"some of {where}"
    if file_system == "FileSystem":
        return f"{name}: {where} itself"
    if file_system == "Unpacked":
        return f"{name}: unpacked"
    kind = "object" if listing.remote else "file"
    return f"{name}: {count} {kind}{'s' * (count != 1)}{size}, {how} {where}"


def end_details(outcome: AttemptOutcome) -> str:
    """Exit codes."""
    if not outcome.ends:
        return "could not start" if outcome.failure is not None and outcome.failure.kind is FailureKind.START else ""
    if len(outcome.ends) == 1:
        (end,) = outcome.ends
        how = "killed after SIGTERM" if end.killed else f"exit {end.exit_code}"
        return f"{how}, out of memory" if end.oom_killed else how
    if outcome.first_failure is None:
        return ", ".join(f"{end.host} exit {end.exit_code}" for end in sorted(outcome.ends, key=lambda end: end.host))
    parts = []
    for end in outcome.ends:
        after = " (first)" if end.host == outcome.first_failure else " stopped after it," if end.signalled else ""
        parts.append(
            f"{end.host}{after} exit {end.exit_code}" if end.signalled else f"{end.host} exit {end.exit_code}{after}"
        )
    return "; ".join(parts)


def upload_details(artifacts: Artifacts | None, published: "PublishResult | None" = None) -> str:
    """The archives with their sizes, and whether they are in S3."""
    if artifacts is None:
        return "no artifacts could be written"
    if published is not None and (published.failure is not None or published.cancelled):
        return f"{upload_details(artifacts)}; {published.failure or 'the upload was interrupted'}"
    if published is not None and published.objects:
        return f"{upload_details(artifacts)}, uploaded to {os.path.dirname(published.objects[0].uri)}/"
    found = [(artifacts.model, artifacts.model_bytes), (artifacts.output, artifacts.output_bytes)]
    parts = [f"{os.path.basename(path)} {readable_bytes(size)}" for path, size in found if path is not None]
    return ", ".join(parts) or "no artifacts"

"""Kinds of jobs: the decisions of a kind are in its own folder. Everything else in this room is the same for all.

Another kind is a row in `KINDS` and a folder with the modules `preparing`, `running`, `showing` and `supervisor`. The
first three have an object of a class below, whose defaults decline or do what is usual.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import in_one_line
from smlocal.engine.engines import Engines, engines_named
from smlocal.engine.interface import Engine
from smlocal.errors import JobFinishedError, JobNotFinishedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.decide.attempt_outcome import AttemptOutcome, Symptoms
from smlocal.jobs.documents import REQUEST, STRICT
from smlocal.jobs.kind import module_of
from smlocal.jobs.planning.model import HostPlan, JobPlan, RecordedPlan
from smlocal.jobs.prepared import PreparedPlan
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.view import JobView, Reporter, Stage, StartView
from smlocal.terms.metrics import MetricPattern
from smlocal.terms.statuses import COMPLETED, FAILED, STOPPED, Ending, Failure, FailureKind, JobPhase

if TYPE_CHECKING:
    from smlocal.jobs.planning.workload import Workload
    from smlocal.jobs.spreading import prepare_spread
else:
    prepare_spread = at_use("smlocal.jobs.spreading", "prepare_spread")

P = TypeVar("P", bound=RecordedPlan)
"""The plans of a kind of jobs."""


_FINAL = {JobPhase.COMPLETED, JobPhase.FAILED, JobPhase.STOPPED, JobPhase.MAX_RUNTIME_EXCEEDED}
"""How a job has ended."""


class RecordedFile(Protocol):
    """A validated job file of any kind."""

    @property
    def local(self) -> LocalSettings:
        """Its settings of this machine."""
        ...


class JobContext(Protocol):
    """The tools of a helper that acts beside a job."""

    store: Store
    reporter: Reporter
    created: float

    @property
    def engine(self) -> Engine:
        """The only engine, or the first of several."""
        ...

    def record(self, kind: str, data: Mapping[str, object]) -> None:
        """Add an event to the job's history."""
        ...


class BesideJob(Protocol):
    """A helper that runs beside a job and outlives its containers by a little."""

    def stops(self) -> int:
        """How often a stop of the job was requested, not counting stops by the processes that run beside it."""
        ...

    def finish(self, working: Callable[[str], None], cancelled: Callable[[], bool]) -> None:
        """Give it some time, then end it."""
        ...

    def hints(self) -> list[str]:
        """Sentences for the user, once it has ended."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoken:
    """How sentences speak of the jobs of a platform."""

    job: str
    """The word for such a job."""
    ended: str
    """The sentence that refuses a stop if the job has ended."""
    stopping: str
    """The word for the effect of a stop."""
    longest_grace: int | None
    """Seconds from SIGTERM to SIGKILL that the platform allows at most; None if it has no limit."""
    endless: bool = False
    """True if such a job goes on until it is stopped."""
    no_metrics: str
    """The words about a job whose metrics are not looked for, behind its name."""
    no_tensors: str
    """The words about a job that saves no tensors."""
    no_artifacts: str
    """The words about a job that has ended and has no artifacts to upload."""
    no_log: str = ""
    """The words about a job without a log; empty: it has a log."""


Reasons = Mapping[FailureKind, str | Callable[[str], str]]
"""A platform's words for each failure that no program caused, or a function that makes them of its message."""


class Preparing(ABC, Generic[P]):
    """The decisions of a kind about its jobs before they run."""

    NO_SCRIPT: ClassVar[str] = ""
    """Why a script of docker commands cannot replace the job; empty if it can."""
    HERE: ClassVar[bool] = False
    """True if this machine calls its containers, so that only an engine of this machine can run it."""
    ENDLESS: ClassVar[bool] = False
    """True if it has no end, so that no other job waits for its instances."""

    def checked(self, document: Document, say: Callable[[str], None]) -> Document:
        """The document for `check`, by default the same. `say` reports a different one."""
        return document

    @abstractmethod
    def read(self, recorded: Mapping[str, Any]) -> RecordedFile:
        """The validated job of a recorded job file. Mistakes are an error."""

    @abstractmethod
    def prepare(
        self,
        job: Any,
        /,
        *,
        name: str,
        home: str,
        engines: Engines,
        reporter: Reporter,
        strict: bool,
        run_id: str | None = None,
    ) -> PreparedPlan:
        """Check everything that can be checked before a job is made. Mistakes are an error."""

    def prepare_recorded(
        self, recorded: Mapping[str, Any], record: JobRecord, *, home: str, reporter: Reporter
    ) -> PreparedPlan:
        """Prepare a job that was recorded and never begun."""
        job, strict = self.read(recorded), bool(recorded.get(STRICT))

        def prepared(engines: Engines) -> PreparedPlan:
            return self.prepare(
                job,
                name=record.name,
                home=home,
                engines=engines,
                reporter=reporter,
                strict=strict,
                run_id=record.run_id,
            )

        if not job.local.SpreadOver:
            return prepared(engines_named(job.local.Engines))
        return prepare_spread(
            prepared,
            self.workload(job),
            job.local,
            home=home,
            name=record.name,
            run_id=record.run_id,
            here=self.HERE,
            endless=self.ENDLESS,
            reporter=reporter,
        )

    def workload(self, job: Any) -> "Workload | None":
        """What one job needs of the engine that runs it whole; None if it leads others, as by default."""
        return None

    def plan_again(self, recorded: Mapping[str, Any], old: JobPlan, *, home: str, engines: Engines) -> JobPlan:
        """The plan of a recorded job, with its inputs as they are now; by default nothing in it is of one attempt."""
        return old

    @abstractmethod
    def plan_document(self, plan: P) -> dict[str, Any]:
        """The plan as it is stored for people and programs."""

    @abstractmethod
    def plan_rows(self, plan: P) -> Iterable[tuple[str, str]]:
        """The plan for people: heads, and the texts beside them."""

    def script(self, plan: P) -> str | None:
        """A script of docker commands that does the same; None if none can."""
        return None


class Running:
    """The decisions of a kind about a job that runs, and how it ends. By default there is nothing to decide."""

    REASONS: ClassVar[Reasons]

    def for_attempt(self, plan: JobPlan, number: int) -> JobPlan:
        """The plan of another attempt; by default nothing in it says the number."""
        return plan

    def begin_rules(self, plan: JobPlan, context: JobContext, *, first: bool) -> BesideJob | None:
        """Begin the evaluations beside the job, or watch on after `first`; None if there is nothing."""
        return None

    def ending(self, outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:
        """How a job ends after its last attempt, and the reason in the platform's words.

        By default what a program did is not looked at.
        """
        if outcome.failure is not None:
            return FAILED, self.reason(outcome.failure)
        if outcome.stopped is not None:
            return STOPPED[outcome.stopped], None
        return COMPLETED, None

    def reason(self, failure: Failure) -> str:
        """A failure that no program caused, in the platform's words."""
        text = self.REASONS[failure.kind]
        return text if isinstance(text, str) else text(failure.message)

    def hint(self, plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:
        """The problem of the image or the job of a host that failed, or left nothing; None if it is not known."""
        return None

    def usage(self, plan: JobPlan, killed: Collection[str]) -> dict[str, Any] | None:
        """The usage of the hosts, with advice on machine types; `killed`: hosts whose memory ran out.

        None: there is no advice. The series are in the folder of the job.
        """
        return None

    def docker_command(self, plan: JobPlan) -> str | None:
        """The command that starts a failed job again by hand. Needs the job's folder. None: nothing does."""
        return None


class Showing(ABC, Generic[P]):
    """How a kind speaks of its jobs: answers, lists, screens."""

    DOCUMENTS: ClassVar[tuple[str, ...]] = ()
    """The kinds of documents that its answer needs, in addition to the usual ones."""
    LIST: ClassVar[str] = ""
    """The name of the platform's list of jobs."""
    HOSTS: ClassVar[tuple[str, ...]] = ()
    """The names of the hosts, where all jobs have the same."""
    UNINTERRUPTIBLE: ClassVar[tuple[str, str] | None] = None
    """Why no command can interrupt any of these jobs, and the remedy."""
    HAS_PAGE_PARTS: ClassVar[bool] = False
    """True if the kind has a module `page_parts` with more for its page."""
    LISTED: ClassVar[tuple[str, ...]] = ()
    """The documents that `outcome` reads."""
    NO_CAUSE: ClassVar[tuple[str, ...]] = ()
    """Beginnings of reasons without the cause itself."""

    @abstractmethod
    def describe(self, stored: StoredJob) -> dict[str, Any]:
        """The platform's answer about a job."""

    def describe_last(self, stored: StoredJob) -> dict[str, Any]:
        """The answer with the parts that the platform adds only some time after the end; by default there are none."""
        return self.describe(stored)

    def still_to_come(self, stored: StoredJob) -> dict[str, Any]:
        """Members of the `Local` block about what the answer does not have yet, or never; by default nothing."""
        return {}

    def further(self, stored: StoredJob, read: Callable[[Sequence[str]], Mapping[str, Any]]) -> dict[str, Any]:
        """Members of the `Local` block made of more documents, which `read` reads by their kinds; by default none."""
        return {}

    def request_only(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The members of the request that this answer does not have; by default it has them all."""
        return {}

    def listed(self, record: JobRecord, read: Callable[[], StoredJob]) -> tuple[str, dict[str, Any]]:
        """The name of the platform's list of jobs, and a job in it. Members that are None are left out.

        `read`: with the documents that its answer is made from. By default the record has everything.
        """
        return self.LIST, self.entry(record)

    def entry(self, record: JobRecord) -> dict[str, Any]:
        """A job in the list, from its record alone. A kind whose `listed` needs more does not have it."""
        raise NotImplementedError

    @abstractmethod
    def words(self, record: JobRecord) -> tuple[str, str]:
        """The state of a job, and its present work or the reason of its end, if that says more."""

    def outcome(self, documents: Mapping[str, Any]) -> str:
        """The result of a job for lists, in a few words: its objective, or a count."""
        return ""

    def cause(self, record: JobRecord, local: Mapping[str, Any]) -> str:
        """Why a job failed, in one line for lists; empty if only the host's log has the cause."""
        if not (record.failure_reason or "").startswith(self.NO_CAUSE):
            return in_one_line(record.failure_reason)
        return str(local.get("Explanation") or next(iter(local.get("Hints") or ()), ""))

    @abstractmethod
    def spoken(self, record: JobRecord) -> Spoken:
        """How sentences speak of this job."""

    @abstractmethod
    def start(self, plan: P) -> StartView:
        """The view of a job when it starts."""

    @staticmethod
    def stages(stored: StoredJob, called: Mapping[JobPhase, str]) -> tuple[Stage, ...]:
        """The phases of a job until now; `called`: names that replace those of the store.

        Neighbours with one name become one phase.
        """
        stages = []
        for name, found in groupby(stored.transitions, lambda each: called.get(each.status, str(each.status))):
            first, *others = found
            last = others[-1] if others else first
            final = first.status in _FINAL
            stages.append(Stage(name=name, message="", began=first.started, ended=last.ended, final=final))
        return tuple(stages)

    @abstractmethod
    def view(self, stored: StoredJob, answer: Mapping[str, Any]) -> JobView:
        """The view of a job; `answer` has the `Local` block."""

    @abstractmethod
    def described_rows(self, view: JobView, *, supervised: bool) -> Iterable[tuple[str, str]]:
        """The rows of `smlocal describe` before those that are the same for all platforms."""

    def detailed_rows(self, view: JobView) -> Iterable[tuple[str, str]]:
        """The rows that `smlocal describe --verbose` adds; by default none."""
        return ()

    def host_names(self, record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> list[str]:
        """The names of the hosts of a recorded job, which may not have been prepared."""
        return list(self.HOSTS)

    def host_called(self, record: JobRecord, request: Callable[[], Mapping[str, Any]]) -> Mapping[str, str]:
        """The other names of a host for the platform and its containers, and the host's name here; by default none."""
        return {}

    def with_model(self, store: Store, name: str) -> str:
        """The job whose model is that of this one; by default its own."""
        return name

    def metrics(self, request: Mapping[str, Any]) -> tuple[MetricPattern, ...]:
        """The metrics that a request wants from the logs; by default the service finds none there."""
        return ()

    def not_interruptible(self, request: Mapping[str, Any]) -> tuple[str, str] | None:
        """Why no command can interrupt a job with this request, and the remedy; None if one can."""
        return self.UNINTERRUPTIBLE


def preparing(kind: str) -> Preparing[Any]:
    """What decides about its jobs before they run."""
    part: Preparing[Any] = module_of(kind, "preparing").PREPARING
    return part


def running(kind: str) -> Running:
    """What decides about a job that runs."""
    part: Running = module_of(kind, "running").RUNNING
    return part


def showing(kind: str) -> Showing[Any]:
    """What words its jobs."""
    part: Showing[Any] = module_of(kind, "showing").SHOWING
    return part


def spoken_of(record: JobRecord) -> Spoken:
    """How sentences speak of this job."""
    return showing(record.platform).spoken(record)


def not_finished(record: JobRecord, *remedy: str) -> JobNotFinishedError:
    """The error for what only a finished job allows."""
    state, _ = showing(record.platform).words(record)
    return JobNotFinishedError(
        f"The {spoken_of(record).job} '{record.name}' is not finished: it is {state}.", remedy=remedy
    )


def finished(record: JobRecord) -> JobFinishedError:
    """The error for a stop of a job that has ended."""
    return JobFinishedError(spoken_of(record).ended)


def job_hosts(store: Store, name: str) -> list[str]:
    """In host order; `JobUnknownError` if there is no such job. It may not have been prepared."""
    record = store.get(name)
    return showing(record.platform).host_names(record, lambda: store.document(name, REQUEST))


def host_called(store: Store, name: str) -> Mapping[str, str]:
    """The other names of a host for the platform, and the host's name here."""
    record = store.get(name)
    return showing(record.platform).host_called(record, lambda: store.document(name, REQUEST))

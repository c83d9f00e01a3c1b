"""Takes a recorded job of any kind to its last status. What has containers goes on in `container_supervisor`."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import EngineError, HomeUnusableError, JobUnrecordedError, MachineNotReadyError
from smlocal.jobs.context import Context
from smlocal.jobs.decide.attempt_outcome import Course
from smlocal.jobs.decide.events import unexpected_error
from smlocal.jobs.documents import DECISION, LOCAL, decision_document, ended_block
from smlocal.jobs.finish.describe import release_space
from smlocal.jobs.history import Past
from smlocal.jobs.kinds import Running, running
from smlocal.jobs.planning.model import RecordedPlan, note_documents
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import INTERNAL_ERROR, NO_DISK_SPACE, Ending, Failure, JobPhase, JobStatus


@dataclass(kw_only=True, slots=True)
class Supervisor:
    """Takes one recorded job to its end: it runs, its end is decided and stored, what it left is removed, it ends.

    A kind of job inherits from this class, or from `ContainerSupervisor` if it has containers, and replaces hooks. They
    are the methods without an underscore, in the order in which they are called:

    - `begin` before a job runs for the first time;
    - `run` for a new job, or `resume` for one whose supervisor was killed at any moment. Both return when nothing is
      left to wait for. How it went is in `course`;
    - `failed_by` if that raised an error that jobs may have, `broken_off` for it and for every other one;
    - `gather`, before the end is decided;
    - `decide`: how the job ends, and why;
    - `complete`, which adds to the results once that is known;
    - `block` and `more_results`: what is told of it under `Local`; `store_decision` stores that;
    - `clean_up`, which leaves nothing on this machine, and `record_left`: what could not be removed;
    - `finish` calls all from `gather` on. What replaces it calls it too.
    """

    context: Context
    plan: RecordedPlan
    kind: Running = field(init=False)
    """What its kind decides about jobs that run."""
    course: Course = field(default_factory=Course)

    def __post_init__(self) -> None:
        self.kind = running(self.plan.platform)

    def run_and_finish(self, run: Callable[[], None]) -> None:
        """Call `run`, then finish. Whatever goes wrong, the job ends with a terminal status and is cleaned up."""
        try:
            run()
        except (HomeUnusableError, EngineError, MachineNotReadyError) as error:
            self.failed_by(error)
        except Exception as error:
            self.broken_off(INTERNAL_ERROR, unexpected_error(error))
            raise
        finally:
            self.finish()

    def begin(self) -> None:
        """Before the job runs for the first time."""

    def run(self) -> None:
        """Take a new job to its end."""
        raise NotImplementedError

    def resume(self, past: Past, phase: JobPhase) -> None:
        """Take a job to its end that an earlier supervisor left in this phase."""
        raise NotImplementedError

    def failed_by(self, error: HomeUnusableError | EngineError | MachineNotReadyError) -> None:
        """The home is full or gone, or an engine is lost: this fails the job."""
        self.broken_off(NO_DISK_SPACE if isinstance(error, HomeUnusableError) else INTERNAL_ERROR, error.with_details)

    def broken_off(self, failure: Failure, why: str | None) -> None:
        """Fail the job, unless its end is decided already."""
        self.course.break_off(failure, why)

    def finish(self) -> None:
        """Decide how the job ended and store that; clean up; only then end the job."""
        over = time.time()  # as on the service, what follows is not part of the job's time
        self.gather()
        ended, reason = self.decide()
        release_space(self.context.store.directory(self.plan.name))
        self.complete(ended)
        with suppress(HomeUnusableError):  # a full disk may have room after the clean-up
            self.store_decision(ended, reason)
        self.clean_up(ended)
        self.context.phases.leave(good=ended.status is not JobStatus.FAILED)
        try:
            self.store_decision(ended, reason)
            self.record_left()
            end_job(self.context.store, self.plan.name, ended, reason, over=over)
        except HomeUnusableError as error:
            raise JobUnrecordedError(
                f"the job '{self.plan.name}' has ended, but its record cannot be saved",
                details=[f"{ended.status}{f': {reason}' if reason else ''}", error.sentence, *error.details],
                remedy=[f"Free some space there, then: smlocal describe {self.plan.name}"],
            ) from error

    def gather(self) -> None:
        """What has to be known or done before the end is decided."""

    def decide(self) -> tuple[Ending, str | None]:
        """How the job ends, and the reason in the platform's words."""
        return self.kind.ending(self.course.outcome, b"")

    def complete(self, ended: Ending) -> None:
        """Add to the results what is only wanted of such an end."""

    def store_decision(self, ended: Ending, reason: str | None) -> None:
        """If this supervisor dies while it cleans up, the next one has nothing to decide."""
        block = {**self.block(ended, reason), **self.more_results()}
        self.context.store.put_document(self.plan.name, LOCAL, block)

    def block(self, ended: Ending, reason: str | None) -> dict[str, Any]:
        """The `Local` block, as all jobs without containers have it."""
        return {
            **ended_block(explanation=self.course.explanation, hints=self.course.hints),
            DECISION: decision_document(ended, reason),
            "Attempts": 1,
            "Seconds": dict(self.context.phases.seconds),
            "Notes": note_documents(self.plan),
            "AllowCpu": any(note.id == "allow-cpu" for note in self.plan.notes),
        }

    def more_results(self) -> dict[str, Any]:
        """Members of the `Local` block that only jobs of this kind have."""
        return {}

    def clean_up(self, ended: Ending) -> None:
        """Remove everything that the job has left on this machine, except what is kept."""

    def record_left(self) -> None:
        """Record what could not be removed."""

    @classmethod
    def logged_before(cls, store: Store, name: str) -> Mapping[str, int]:  # noqa: ARG003 - a job without hosts has no logs
        """Bytes of each host's log from containers before the last one."""
        return {}


def end_job(store: Store, name: str, ended: Ending, reason: str | None, *, over: float | None = None) -> None:
    """Store the terminal status of a job. `over`: when its last phase ended, if that was earlier."""
    now = time.time()
    store.transition(
        name,
        status=ended.status,
        phase=ended.phase,
        message=ended.message,
        at=now if over is None else min(over, now),
        failure_reason=reason,
        modified=now,
    )

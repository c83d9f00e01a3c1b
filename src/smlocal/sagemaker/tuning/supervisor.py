"""Leads a tuning job: chooses points, has training jobs made of them, and ends the search.

A trial is recorded together with its training job. The next supervisor goes on with the same points, and records no
job twice.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import in_one_line
from smlocal.engine.engines import engines_named
from smlocal.errors import EngineError, MachineNotReadyError, SmlocalError
from smlocal.errors.of_jobs import WarmStartError
from smlocal.jobfile.document import recorded_document
from smlocal.jobs.decide.events import Event, KillAsked, StopAsked, Woken
from smlocal.jobs.documents import JOB, QUEUE, SERVE_PROGRAM, TUNED_BY
from smlocal.jobs.history import Past
from smlocal.jobs.store.database import StoreChanges
from smlocal.jobs.submission.leading import LedJobs
from smlocal.jobs.submission.scheduler import JobStarter
from smlocal.jobs.supervisor import Supervisor
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.facts import TUNING
from smlocal.sagemaker.tuning.search import Search, Verdict
from smlocal.sagemaker.tuning.state import (
    EARLIER,
    overall_best,
    read_trials,
    state_document,
    summary,
    verdict_of,
)
from smlocal.sagemaker.tuning.trial_jobs import TrialJobs, cause_of, parent_bests
from smlocal.sagemaker.tuning.trials import Trial, document_kind
from smlocal.sagemaker.tuning.tuning_file import TuningFile, read_tuning
from smlocal.sagemaker.tuning.warm_start import earlier_of, with_earlier
from smlocal.terms.statuses import FAILED, INTERNAL_ERROR, Ending, JobPhase, PhaseMessage, input_failure

if TYPE_CHECKING:
    from smlocal.jobs.spreading import engines_to_look
else:
    engines_to_look = at_use("smlocal.jobs.spreading", "engines_to_look")

_PAUSES: Final = (0.01, 0.25)
"""Seconds between looks at the store: they grow while nothing changes."""
_ABANDONED_SECONDS: Final = 60.0
"""Seconds for training jobs to end when the search is killed."""
_ORPHANS_EVERY: Final = 2.0
"""Seconds between looks for training jobs without a supervisor."""


@dataclass(kw_only=True, slots=True)
class TuningSupervisor(Supervisor):
    """Takes one recorded tuning job to its end."""

    file: TuningFile = field(init=False)
    search: Search = field(init=False)
    verdict: Verdict | None = None
    grace: float | None = None
    """Of the stop that was asked for."""
    warned: bool = False
    """True once it was said that a training job has written no objective metric."""
    lost_parent: str | None = None
    """Why the search cannot start from its parents any more."""
    parents: Sequence[Mapping[str, Any]] = ()
    """The best of each parent."""
    changed: dict[int, Trial] = field(default_factory=dict)
    """TrialJobs that are to be stored, by their numbers."""
    stored: bool = False
    """True if the state is stored as it is, apart from them."""

    def __post_init__(self) -> None:
        Supervisor.__post_init__(self)
        store, name = self.context.store, self.plan.name
        self.file = read_tuning(recorded_document(store.document(name, JOB)))
        earlier = store.document(name, EARLIER)
        if earlier is None and self.file.parents:
            try:
                earlier = earlier_of(self.file, store)
                store.put_document(name, EARLIER, earlier)
            except WarmStartError as error:  # it was removed after the job had been checked
                self.lost_parent = error.sentence
        self.search = Search(plan=self.file.plan(name, with_earlier(self.file, earlier)))
        if self.file.same_data:
            self.parents = parent_bests(store, self.file.parents)

    def run(self) -> None:
        """Search."""
        if self.lost_parent is not None:
            self.course.fail(input_failure(self.lost_parent), None)
            return
        self.context.phases.enter(JobPhase.TRAINING, PhaseMessage.TRAINING, started=True)
        self._lead()

    def resume(self, past: Past, phase: JobPhase) -> None:
        """Go on with the search of a supervisor that was killed at any moment."""
        store, name = self.context.store, self.plan.name
        self.course.outcome, self.grace = past.outcome, past.grace
        self.verdict = verdict_of(store.document(name, TUNING))
        if self.lost_parent is not None:
            self.run()
            return
        if phase in {JobPhase.STARTING, JobPhase.PENDING}:
            self.context.phases.enter(JobPhase.TRAINING, PhaseMessage.TRAINING, started=True)
        self._lead()

    def decide(self) -> tuple[Ending, str | None]:
        """How the tuning job ends, and why, in the service's words."""
        outcome = self.course.outcome
        if not outcome.decided and self.verdict is not None and self.verdict.failed:
            return FAILED, self.verdict.reason
        return self.kind.ending(outcome, b"")

    def more_results(self) -> dict[str, Any]:
        """Every training job, and why the search ended."""
        names = [each.name for each in self.file.definitions]
        objectives = self.search.objectives
        return {
            "TrainingJobs": [
                {
                    **summary(each, objectives[each.definition], names[each.definition]),
                    **({"EarlyStopped": True} if each.early else {}),
                    **({"Cause": cause} if (cause := cause_of(each, self.context.store)) else {}),
                }
                for each in self.search.trials
            ],
            "Image": self.plan.details["Image"]["Id"],
            **({SERVE_PROGRAM: program} if (program := self.plan.details.get(SERVE_PROGRAM)) else {}),
            "EndedBecause": None if self.verdict is None or self.verdict.failed else self.verdict.reason or None,
        }

    @property
    def _ending(self) -> bool:
        """True once no further training job is to be made."""
        outcome = self.course.outcome
        return self.verdict is not None or outcome.stopped is not None or outcome.failure is not None

    def _lead(self) -> None:
        context, store = self.context, self.context.store
        limit = (store.document(self.plan.name, QUEUE) or {}).get("Instances")
        with JobStarter(store.home) as starter, StoreChanges(store.home) as changes:
            jobs = LedJobs(
                store=store,
                starter=starter,
                leader=self.plan.name,
                arn=self.plan.identity.arn,
                run_id=self.plan.run_id,
                kind=TUNED_BY,
                limit=limit,
            )
            children = TrialJobs(jobs=jobs, file=self.file)
            try:
                self._take_over(children)
                self._search(children, changes)
            except SmlocalError:  # such as a full disk: the training jobs are not wanted any more
                with suppress(SmlocalError):
                    self._abandon(children)
                raise
        context.phases.leave(self._said(), good=self.verdict is None or not self.verdict.failed)

    def _take_over(self, children: TrialJobs) -> None:
        """Go on with the trials of an earlier supervisor, and read what their jobs have written."""
        trials = read_trials(self.context.store, self.plan.name)
        trials += children.recorded_after(len(trials))
        self.search.remember(trials)
        self.changed |= {each.number: each for each in trials if not each.over}
        if self.search.watches_values():
            found = {each.number: self._values(children, each) or [] for each in self.search.trials}
            self.search.recall_values(found)
        for each in self.search.running:
            if each.early:  # the earlier supervisor may not have come to it
                children.jobs.stop(each.name, None)
        if self._ending:
            self._stop_children(children, self.grace)

    def _search(self, children: TrialJobs, changes: StoreChanges) -> None:
        for request in self.context.stored_requests.read():
            self._handle(request, children)
        looked, pause, seen = 0.0, _PAUSES[0], -1
        while True:
            orphans = time.monotonic() - looked >= _ORPHANS_EVERY
            looked = time.monotonic() if orphans else looked
            seen = changes.number()
            ended = self._look(children, orphans=orphans)
            self._decide_now(children)
            if not self._ending:
                ended += self._launch(children)
            over = not self.search.running and (self._ending or self._decide_now(children))
            self._store()
            if over:
                return
            self.context.reporter.working(self._so_far())
            pause = _PAUSES[0] if ended else min(pause * 1.3, _PAUSES[1])
            self._wait(children, changes, seen, pause)

    def _wait(self, children: TrialJobs, changes: StoreChanges, seen: int, pause: float) -> None:
        """Until a request, a change of the store, or the next look at values and clocks."""
        until = time.monotonic() + _PAUSES[1]
        while (left := until - time.monotonic()) > 0 and changes.number() == seen:
            event = self.context.events.next(min(pause, left))
            if event is not None:
                for request in self.context.stored_requests.read():
                    self._handle(request, children)
                self._handle(event, children)
                return

    def _handle(self, event: Event | Woken, children: TrialJobs) -> None:
        outcome = self.course.outcome
        if isinstance(event, KillAsked):
            self._stop_children(children, 0)
        elif isinstance(event, StopAsked):
            if outcome.stopped is None:
                grace = self.file.local.StopGraceSeconds if event.grace is None else event.grace
                self.context.record_stop(event.cause, grace)
                self.context.reporter.stopping(event.cause, grace)
                self.course.outcome = replace(outcome, stopped=event.cause)
            self.grace = event.grace
            self._stop_children(children, event.grace)

    def _stop_children(self, children: TrialJobs, grace: float | None) -> None:
        for trial in self.search.running:
            children.jobs.stop(trial.name, grace)

    def _abandon(self, children: TrialJobs) -> None:
        """Stop the training jobs and read how they end. A trial whose job was not recorded is dropped."""
        last = self.search.trials[-1] if self.search.trials else None
        if last is not None and not last.over and children.jobs.look(last.name, orphans=False) is None:
            self.search.forget(last)
        self._stop_children(children, 0)
        until = time.monotonic() + _ABANDONED_SECONDS
        while self.search.running and time.monotonic() < until:
            self._look(children, orphans=False)
            time.sleep(_PAUSES[1])

    def store_decision(self, ended: Ending, reason: str | None) -> None:
        """With the state of the search."""
        Supervisor.store_decision(self, ended, reason)
        self._store()  # the last changes, if there was no room for them

    def _decide_now(self, children: TrialJobs) -> bool:
        """Whether the search ends now; its training jobs are stopped then."""
        if self._ending:
            return True
        self.verdict = self.search.verdict(time.time() - self.context.created)
        if self.verdict is None:
            return False
        self.stored = False
        if self.search.running:
            self.context.reporter.progress(f"the search ends: {self.verdict.reason}")
            self._store()
            self._stop_children(children, None)
        return True

    def _look(self, children: TrialJobs, *, orphans: bool) -> int:
        """Take over what has happened to training jobs; returns how many have ended."""
        ended = 0
        for trial in self.search.running:
            record = children.jobs.look(trial.name, orphans=orphans)
            if record is None or record.status.terminal:
                self._end(children, trial)
                ended += 1
            elif self.search.watches_values() and not trial.early and not self._ending:
                self._values(children, trial)
                if self.search.stops(trial):
                    trial.early = True
                    self.changed[trial.number] = trial
                    self._store()
                    self.context.reporter.progress(f"{trial.name} is stopped: others are better")
                    children.jobs.stop(trial.name, None)
        return ended

    def _values(self, children: TrialJobs, trial: Trial) -> list[float]:
        found = children.values(trial, self.search.objectives[trial.definition].metric)
        if found is not None:
            self.search.values[trial.number] = found
        return self.search.values.get(trial.number, [])

    def _launch(self, children: TrialJobs) -> int:
        """Make training jobs as long as there is room; returns how many."""
        made = 0
        name = self.plan.name
        while (trial := self.search.next(lambda n: facts.child_name(name, n, os.urandom(4).hex()))) is not None:
            children.submit(trial)
            self.changed[trial.number] = trial
            children.jobs.start(trial.name)
            shown = " ".join(f"{key}={value}" for key, value in trial.tuned.items())
            self.context.reporter.progress(f"{trial.name} begins: {shown}")
            made += 1
        return made

    def _end(self, children: TrialJobs, trial: Trial) -> None:
        objective = self.search.objectives[trial.definition]
        record = children.jobs.look(trial.name, orphans=False)
        children.end(trial, record, objective.metric)
        if self.search.watches_values() and record is not None:
            self._values(children, trial)
        best = self.search.best
        self.search.end(trial, trial.ended or time.time())
        self.changed[trial.number] = trial
        if trial.value is not None:
            better = self.search.best is not best
            said = f"{objective.metric} {trial.value:.6g}{', the best so far' if better else ''}"
        else:
            said = cause_of(trial, children.store) or in_one_line(trial.reason) or f"no {objective.metric}"
        self.context.reporter.progress(f"{trial.name} {trial.status}: {said}")
        if trial.status == "Completed" and trial.value is None and not self.warned:
            self.warned = True
            self._warn(children, trial, objective.metric)
        if trial.retryable:
            self._check_engine(children)

    def _warn(self, children: TrialJobs, trial: Trial, metric: str) -> None:
        said = f"{trial.name} has written no value of {metric}: {children.without_value(trial, metric)}"
        self.course.hints.append(said)
        self.context.reporter.warning(said)

    def _check_engine(self, children: TrialJobs) -> None:
        """A search whose engine is lost ends at once, and does not lose every training job to it."""
        try:
            local = self.file.local
            engines = engines_to_look(local, None) if local.SpreadOver else engines_named(local.Engines)
            engines.first.image(self.plan.details["Image"]["Name"])
        except (EngineError, MachineNotReadyError) as error:
            self.course.outcome = replace(self.course.outcome, failure=INTERNAL_ERROR)
            self.course.explanation = error.sentence
            self._stop_children(children, 0)

    def _store(self) -> None:
        """Store what has changed, in one transaction."""
        if not self.changed and self.stored:
            return
        names = [each.name for each in self.file.definitions]
        overall = overall_best(self.search, names, self.parents) if self.parents else None
        documents: dict[str, Any] = {TUNING: state_document(self.search, names, self.verdict, overall=overall)}
        documents |= {document_kind(number): trial.document() for number, trial in self.changed.items()}
        self.context.store.put_documents(self.plan.name, documents)
        self.changed, self.stored = {}, True

    def _so_far(self) -> str:
        search = self.search
        running = len(search.running)
        best = "" if search.best is None else f", best {search.best.value:.6g}"
        return f"{len(search.trials) - running:,} of {search.plan.most:,} ended, {running:,} running{best}"

    def _said(self) -> str:
        best = self.search.best
        count = len(self.search.trials)
        jobs = f"{count:,} training job{'s' * (count != 1)}"
        return jobs if best is None else f"{jobs}, best {best.value:.6g}"


SUPERVISOR: Final = TuningSupervisor

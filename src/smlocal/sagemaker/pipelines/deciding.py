"""What an execution does next: a state machine. Told what has happened, it says which steps begin or are stopped.

It calls nothing and waits for nothing: an execution that was interrupted is continued by telling it the same again.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.pipelines.definition import SUCCEEDED, Definition, Step
from smlocal.sagemaker.pipelines.retries import next_attempt
from smlocal.sagemaker.pipelines.step_types import MOST_PARALLEL

FAILED: Final = "Step failure: One or multiple steps failed."
"""The reason of a failed execution."""


class State(StrEnum):
    """The state of a step. The first three are not the service's: such a step is not listed."""

    WAITING = "Waiting"
    READY = "Ready"
    LEFT_OUT = "LeftOut"
    """It never runs: its branch is not taken, or what it waits for has not ended so."""
    STARTING = "Starting"
    EXECUTING = "Executing"
    STOPPING = "Stopping"
    STOPPED = "Stopped"
    FAILED = "Failed"
    SUCCEEDED = "Succeeded"


_ENDED: Final = frozenset({State.SUCCEEDED, State.FAILED, State.STOPPED})
_RUNNING: Final = frozenset({State.STARTING, State.EXECUTING, State.STOPPING})
_AWAITED: Final = frozenset({"Lambda", "Condition", "Fail", "ForEach"})
"""Types whose running steps are not stopped, but awaited."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Begin an attempt of a step."""

    step: str
    attempt: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """Stop what a step runs."""

    step: str


Action = Start | Stop


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """How an attempt ended."""

    state: State
    """Succeeded, Failed or Stopped."""
    reason: str = ""
    exception: str = ""
    """What retry policies go by: such as `SageMaker.JOB_INTERNAL_ERROR`. Empty: nothing that is retried."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    outcome: bool | None = None
    """Of a Condition."""
    cached: str | None = None
    """The execution whose result was used."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Iteration:
    """Which item of a ForEach a step has."""

    parent: str
    index: int
    item: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far one step has come."""

    state: State = State.WAITING
    attempts: int = 0
    began: float | None = None
    ended: float | None = None
    number: int = 0
    """The how manieth step of the execution it was to begin."""
    reason: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    outcome: bool | None = None
    cached: str | None = None
    reused: str | None = None
    """The execution whose result a selective execution uses."""
    retry_at: float | None = None
    """While it waits for another attempt."""
    iteration: Iteration | None = None
    """If a ForEach has made the step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Edge:
    step: str
    trigger: str


@dataclass(kw_only=True, slots=True)
class _Children:
    """Of one ForEach."""

    open: int
    """Those that have not ended, and are not left out."""
    free: int
    """How many more may run at once."""
    waiting: list[tuple[int, str]] = field(default_factory=list)
    """A heap of those that may begin."""


class Execution:
    """One execution of a definition. Every event costs what it changes, and not what the pipeline has."""

    def __init__(
        self,
        definition: Definition,
        *,
        parallel: int | None = None,
        kept: Mapping[str, Progress] | None = None,
        selected: Sequence[str] | None = None,
    ) -> None:
        """`kept`: what steps have come to before.

        Those that have succeeded, for a retry, and for a selective execution from its source. All of them, to continue
        an execution: then tell it the items of each ForEach that runs, and to stop if it was stopping.

        `selected`: the steps to run; None: all that are not kept.
        """
        self.definition = definition
        self.limit_to(parallel)
        self.steps: dict[str, Step] = {}
        self.progress: dict[str, Progress] = {}
        self.stopping = False
        self._order: dict[str, int] = {}
        self._missing: dict[str, int] = {}
        """How many steps each waits for."""
        self._following: dict[str, list[_Edge]] = {}
        self._nested: dict[str, list[str]] = {}
        self._ready: list[tuple[int, str]] = []
        self._retries: list[tuple[float, str]] = []
        self._running = 0
        self._open = 0
        """Steps that have not ended, and are not left out."""
        self._begun = 0
        self._failed: dict[str, None] = {}
        self._stopped = 0
        self._handled: set[str] = set()
        """Steps whose failure or stop began another step."""
        self._bodies: dict[str, _Children] = {}
        """Of each ForEach whose items are known."""
        self._kept = kept or {}
        self._built = False
        self._build(self._kept, selected)

    # What it is built of.

    def _build(self, kept: Mapping[str, Progress], selected: Sequence[str] | None) -> None:
        chosen = None if selected is None else set(selected)
        for name, step in self.definition.steps.items():
            if self._is_body(step):  # its children are made when the items are known; the ForEach waits in its place
                outside = tuple(each for each in step.after if not self._is_sibling(step, each.step))
                self._wait_for(str(step.parent), replace(step, after=outside))
                continue
            self.steps[name] = step
            self._order[name] = len(self._order)
            self._missing[name] = 0
            self.progress[name] = Progress()
            self._open += 1
            if step.parent is not None:
                self._nested.setdefault(step.parent, []).append(name)
                self._missing[name] += 1
            self._wait_for(name, step)
        self._begun = max((progress.number for progress in kept.values()), default=0)
        for name in self.steps:
            if name in kept:
                self._keep(name, kept[name])
        for name in self.steps.keys() - chosen if chosen is not None else ():
            self._leave_out(name)
        self._keep_children(kept)
        self._built = True
        for name, number in self._missing.items():
            if number == 0 and self.progress[name].state is State.WAITING:
                self._make_ready(name)

    def _wait_for(self, name: str, step: Step) -> None:
        for after in step.after:
            self._missing[name] += 1
            self._following.setdefault(after.step, []).append(_Edge(step=name, trigger=after.trigger))

    def _is_body(self, step: Step) -> bool:
        return step.parent is not None and self.definition.steps[step.parent].type.name == "ForEach"

    def _is_sibling(self, step: Step, name: str) -> bool:
        """True if both are in the body of the same ForEach: then they wait for each other in each iteration."""
        other = self.definition.steps.get(name)
        return other is not None and other.parent == step.parent

    def _keep(self, name: str, progress: Progress) -> None:
        """What is known of a step from before."""
        if progress.retry_at is not None:
            self.progress[name] = progress
            heapq.heappush(self._retries, (progress.retry_at, name))
        elif progress.state in _RUNNING:
            self.progress[name] = progress
            self._running += self._counts(name)
        elif progress.state in _ENDED:
            self.progress[name] = progress
            self._open -= 1
            if progress.iteration is None:
                self._count_end(name, progress.state)
                self._resolve(name)

    def _keep_children(self, kept: Mapping[str, Progress]) -> None:
        """Those of a ForEach that has ended: they are only listed."""
        for name, progress in kept.items():
            parent = None if progress.iteration is None else kept.get(progress.iteration.parent)
            if progress.iteration is not None and parent is not None and parent.state in _ENDED:
                body = self.definition.steps[name.rpartition("-")[0]]
                self.steps[name] = replace(body, name=name, parent=None, branch=None, after=())
                self.progress[name] = progress
                self._nested.setdefault(progress.iteration.parent, []).append(name)

    def _count_end(self, name: str, state: State) -> None:
        if state is State.FAILED:
            self._failed[name] = None
        self._stopped += state is State.STOPPED

    # Events.

    def actions(self, now: float) -> list[Action]:
        """What is to be done now. A step that is named here counts as starting."""
        found: list[Action] = []
        if self.stopping:
            return found
        while self._retries and self._retries[0][0] <= now:
            _, name = heapq.heappop(self._retries)
            if self.progress[name].retry_at is not None:
                self._make_ready(name)
        while self._ready and self._running < self.parallel:
            _, name = heapq.heappop(self._ready)
            before = self.progress[name]
            if before.state is not State.READY:
                continue
            if before.began is None:
                self._begun += 1
            self.progress[name] = replace(
                before,
                state=State.STARTING,
                attempts=before.attempts + 1,
                began=now if before.began is None else before.began,
                number=before.number or self._begun,
                retry_at=None,
            )
            self._running += self._counts(name)
            found.append(Start(step=name, attempt=before.attempts + 1))
        return found

    def next_time(self) -> float | None:
        """When `actions` has more to say without an event; None: never."""
        return self._retries[0][0] if self._retries and not self.stopping else None

    def limit_to(self, parallel: int | None) -> None:
        """How many steps may run at once from now on."""
        self.parallel = min(parallel or MOST_PARALLEL, MOST_PARALLEL)

    def started(self, name: str, metadata: Mapping[str, Any] | None = None) -> None:
        """What a step makes was made, and runs."""
        before = self.progress[name]
        if before.state is State.STARTING:
            self.progress[name] = replace(before, state=State.EXECUTING, metadata=metadata or before.metadata)

    def ended(self, name: str, end: End, now: float) -> None:
        """An attempt of a step has ended."""
        before = self.progress[name]
        if before.state not in _RUNNING or before.retry_at is not None:
            return
        self._running -= self._counts(name)
        metadata = end.metadata or before.metadata
        if end.state is State.FAILED and not self.stopping and end.exception:
            began = now if before.began is None else before.began
            at = next_attempt(self.steps[name], end.exception, attempts=before.attempts, began=began, now=now)
            if at is not None:
                self.progress[name] = replace(
                    before, state=State.EXECUTING, retry_at=at, reason=end.reason, metadata=metadata
                )
                heapq.heappush(self._retries, (at, name))
                return
        self.progress[name] = replace(
            before,
            state=end.state,
            ended=now,
            reason=end.reason,
            metadata=metadata,
            outcome=end.outcome,
            cached=end.cached,
        )
        self._open -= 1
        if before.iteration is None:  # how a child ends is told by its ForEach
            self._count_end(name, end.state)
        self._resolve(name)
        self._child_ended(name, now)

    def expanded(self, name: str, items: Sequence[Any], now: float) -> None:
        """The items of a ForEach are known: a child is made for each."""
        if self.stopping:
            self.ended(name, End(state=State.STOPPED), now)
            return
        self.started(name)
        children = [
            self._add_child(body, Iteration(parent=name, index=index, item=item))
            for index, item in enumerate(items)
            for body in self.definition.children(name)
        ]
        states = [self.progress[child].state for child in children]
        still = [each for each in states if each not in _ENDED]
        most = int(self.steps[name].arguments["MaxConcurrency"])
        running = len([each for each in still if each is not State.WAITING])
        group = _Children(open=len(still), free=most - running)
        self._nested[name], self._bodies[name] = children, group
        for child in children:
            if self.progress[child].state is State.WAITING and self._missing[child] == 0:
                heapq.heappush(group.waiting, (self._order[child], child))
        for child, state in zip(children, states, strict=True):
            if state in _ENDED:
                self._resolve(child)
        self._begin_children(name)
        if group.open == 0:
            self._end_for_each(name, now)

    def _add_child(self, body: Step, iteration: Iteration) -> str:
        """The child for a step of the body and an item, as it was if it is known from before."""
        child = f"{body.name}-{iteration.index}"
        after = [each for each in body.after if self._is_sibling(body, each.step)]
        renamed = tuple(replace(each, step=f"{each.step}-{iteration.index}") for each in after)
        self.steps[child] = replace(body, name=child, parent=None, branch=None, after=renamed)
        self._order[child] = len(self._order)
        self._missing[child] = 0
        self.progress[child] = Progress(iteration=iteration)
        self._open += 1
        self._wait_for(child, self.steps[child])
        before = self._kept.get(child)
        if before is not None and before.iteration == iteration:
            self._keep(child, before)
        return child

    def _begin_children(self, name: str) -> None:
        """As many as may run at once."""
        group = self._bodies[name]
        while group.free > 0 and group.waiting and not self.stopping:
            _, child = heapq.heappop(group.waiting)
            group.free -= 1
            self._make_ready(child)

    def stop(self, now: float, *, again: bool = False) -> list[Action]:
        """Stop all that runs, and begin nothing more. `again`: it was stopping when it was interrupted."""
        if self.stopping or (self.is_over and not again):
            return []
        self.stopping = True
        found: list[Action] = []
        for name, before in list(self.progress.items()):
            if before.retry_at is not None:
                self.progress[name] = replace(before, state=State.STOPPED, ended=now, retry_at=None)
                self._open -= 1
                self._stopped += 1
                self._child_ended(name, now)
            elif before.state in _RUNNING and name not in self._bodies:
                self.progress[name] = replace(before, state=State.STOPPING)
                if self.steps[name].type.name not in _AWAITED:
                    found.append(Stop(step=name))
            elif before.state in {State.WAITING, State.READY}:
                self.progress[name] = replace(before, state=State.LEFT_OUT)
                self._open -= 1
                self._child_ended(name, now)
        return found

    # What follows of an end.

    def _counts(self, name: str) -> bool:
        """A ForEach is no step beside its children."""
        return self.steps[name].type.name != "ForEach"

    def _make_ready(self, name: str) -> None:
        self.progress[name] = replace(self.progress[name], state=State.READY)
        heapq.heappush(self._ready, (self._order[name], name))

    def _resolve(self, name: str) -> None:
        """Those that waited for a step: they may begin, or never do."""
        progress = self.progress[name]
        for nested in self._nested.get(name, ()) if self.steps[name].type.name == "Condition" else ():
            taken = progress.state is State.SUCCEEDED and self.steps[nested].branch is progress.outcome
            self._one_less(nested, met=taken)
        for edge in self._following.get(name, ()):
            met = progress.state in _ENDED and edge.trigger in {progress.state.value, "Any"}
            if met and edge.trigger != SUCCEEDED and progress.state is not State.SUCCEEDED:
                self._handled.add(name)
            self._one_less(edge.step, met=met)

    def _one_less(self, name: str, *, met: bool) -> None:
        if self.progress[name].state is not State.WAITING:
            return
        if not met:
            self._leave_out(name)
            return
        self._missing[name] -= 1
        if self._missing[name] > 0 or not self._built:
            return
        iteration = self.progress[name].iteration
        if iteration is None:
            self._make_ready(name)
        else:
            heapq.heappush(self._bodies[iteration.parent].waiting, (self._order[name], name))

    def _leave_out(self, name: str) -> None:
        """The step never runs, and neither do those that wait for it."""
        waiting = [name]
        while waiting:
            each = waiting.pop()
            if self.progress[each].state is not State.WAITING:
                continue
            before = self.progress[each]
            self.progress[each] = replace(before, state=State.LEFT_OUT)
            self._open -= 1
            if before.iteration is not None:
                self._bodies[before.iteration.parent].open -= 1
            waiting += [edge.step for edge in self._following.get(each, ())]
            waiting += self._nested.get(each, ())

    def _child_ended(self, name: str, now: float) -> None:
        iteration = self.progress[name].iteration
        if iteration is None:
            return
        group = self._bodies[iteration.parent]
        group.open -= 1
        group.free += 1
        self._begin_children(iteration.parent)
        if group.open == 0:
            self._end_for_each(iteration.parent, now)

    def _end_for_each(self, name: str, now: float) -> None:
        """With the last child. It has succeeded if all have."""
        states = [self.progress[child].state for child in self._nested[name]]
        good, bad = states.count(State.SUCCEEDED), states.count(State.FAILED)
        stopped = states.count(State.STOPPED)
        end = State.SUCCEEDED if good == len(states) else State.STOPPED if self.stopping else State.FAILED
        counts = {
            "Status": end.value,
            "InputItemCount": len(states) // max(len(list(self.definition.children(name))), 1),
            "TotalStepCount": len(states),
            "SucceededStepCount": good,
            "FailedStepCount": bad,
            "StoppedStepCount": stopped,
        }
        self.ended(name, End(state=end, metadata={"ForEach": counts}), now)

    def describe_for_each(self, name: str, metadata: Mapping[str, Any]) -> None:
        """More is known of a ForEach that has ended: what its Selector has picked."""
        self.progress[name] = replace(self.progress[name], metadata={"ForEach": dict(metadata)})

    # What it is.

    @property
    def is_over(self) -> bool:
        """True if nothing runs, and nothing will."""
        return self._open == 0

    @property
    def status(self) -> str:
        """The status of the execution."""
        if not self.is_over:
            return "Stopping" if self.stopping else "Executing"
        if self.stopping:
            return "Stopped"
        if all(name in self._handled for name in self._failed):
            if self._failed or (self._stopped and self._handled):
                return "CompletedWithFailures"
            return "Stopped" if self._stopped else "Succeeded"
        return "Failed"

    @property
    def reason(self) -> str:
        """Why it failed."""
        return FAILED if self.status == "Failed" else ""

    def children(self, name: str) -> Sequence[str]:
        """The steps that a ForEach has made."""
        return self._nested.get(name, ())

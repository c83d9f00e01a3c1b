"""The steps of an execution as a graph: what has become of each, and what waits for what."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from smlocal.base.formatting import duration
from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.page_parts import Arrow, Box, Graph
from smlocal.sagemaker.pipelines.deciding import Execution, Progress, State
from smlocal.sagemaker.pipelines.definition import SUCCEEDED, Step

MOST_BOXES: Final = 150
_MOST_ARROWS: Final = 1_000
_MANY: Final = 3
"""Arrows for each box, from which on those are left out that say nothing new."""
_TRIGGERS: Final = {"Failed": "if it fails", "Stopped": "if it is stopped", "Any": "however it ends"}
ENDED: Final = frozenset({State.SUCCEEDED, State.FAILED, State.STOPPED})
RUNNING: Final = frozenset({State.STARTING, State.EXECUTING, State.STOPPING})
_SIGNS: Final = {State.SUCCEEDED: "✓", State.FAILED: "✗", State.STOPPED: "■", State.LEFT_OUT: "-"}
_STATUSES: Final = {
    State.SUCCEEDED: "Completed",
    State.FAILED: "Failed",
    State.STOPPED: "Stopped",
    State.STOPPING: "Stopping",
    State.STARTING: "InProgress",
    State.EXECUTING: "InProgress",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownStep:
    """A step of an execution at one moment."""

    step: Step
    progress: Progress
    created: float
    """When the execution was, or its retry."""
    over: float | None
    """When the execution ended, if it has."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.step.name

    @property
    def has_begun(self) -> bool:
        """True if it has begun in this execution, and not in an earlier one or before a retry."""
        began = self.progress.began
        return began is not None and began >= self.created and self.progress.reused is None

    @property
    def state(self) -> State:
        """A step of an execution that has ended does not wait any more."""
        state = self.progress.state
        return State.LEFT_OUT if self.over is not None and state in {State.WAITING, State.READY} else state

    @property
    def status(self) -> str:
        """For its colour; empty if it has not begun."""
        return _STATUSES.get(self.state, "")

    @property
    def ended(self) -> float | None:
        """When it ended, at the latest with the execution; None: it has not."""
        return self.over if self.progress.ended is None else self.progress.ended

    @property
    def seconds(self) -> float | None:
        """How long it took; None if it has not ended here."""
        began, ended = self.progress.began, self.ended
        return None if began is None or ended is None or not self.has_begun else max(0.0, ended - began)

    @property
    def said(self) -> str:
        """Its state, after a sign."""
        state = self.state
        sign = _SIGNS.get(state, "●" if state in RUNNING else "○")
        words = {State.LEFT_OUT: "Left out", State.READY: "Waiting"}
        if self.progress.retry_at is not None:
            return f"{sign} Waits to try again"
        return f"{sign} {words.get(state, state.value)}"


def graph_of(execution: Execution, shown: Mapping[str, ShownStep], rows: Mapping[str, str]) -> Graph | None:
    """Boxes and arrows; None if it is too large to be read. `rows`: the ids of steps in the table."""
    steps = [each for each in shown.values() if each.progress.iteration is None]
    places = {each.name: place for place, each in enumerate(steps)}
    if not 1 < len(steps) <= MOST_BOXES:
        return None
    arrows = list(_arrows(execution, shown, places))
    if len(arrows) > _MANY * len(steps):
        arrows = list(_needed(arrows, len(steps)))
    if len(arrows) > _MOST_ARROWS:
        return None
    boxes = (_box(each, execution, shown, rows.get(each.name, "")) for each in steps)
    return Graph(title=f"The graph of {len(steps)} steps", boxes=tuple(boxes), arrows=tuple(arrows))


def _box(each: ShownStep, execution: Execution, shown: Mapping[str, ShownStep], row: str) -> Box:
    took = "" if each.seconds is None else f" · {duration(each.seconds)}"
    more = _more(each, [shown[child] for child in execution.children(each.name)])
    return Box(
        name=each.name,
        kind=f"{each.step.type.name}{took}",
        state=f"{each.said}, {more}" if more else each.said,
        status=each.status,
        row=row,
        left_out=each.state is State.LEFT_OUT,
    )


def _more(each: ShownStep, inner: list[ShownStep]) -> str:
    """The most important about how it ended, or about what it does."""
    progress = each.progress
    if progress.cached:
        return "cached"
    if progress.reused:
        return "reused"
    if progress.outcome is not None:
        return "true" if progress.outcome else "false"
    if each.step.type.name == "ForEach" and inner:
        good = sum(child.state is State.SUCCEEDED for child in inner)
        return f"{good} of {len(inner)} done"
    if each.step.type.name == "Callback" and each.state is State.EXECUTING:
        return "waits"
    return f"{progress.attempts} attempts" if progress.attempts > 1 else ""


def _arrows(execution: Execution, shown: Mapping[str, ShownStep], places: Mapping[str, int]) -> Iterator[Arrow]:
    definition = execution.definition
    for step in definition.steps.values():
        parent = None if step.parent is None else definition.steps[step.parent]
        is_body = parent is not None and parent.type.name == "ForEach"
        target = step.parent if is_body else step.name  # the ForEach waits for what its body waits for
        if target is None or target not in places:
            continue
        inside = False
        for after in step.after:
            if after.step not in places or after.step == target:
                continue
            before = definition.steps[after.step]
            inside = inside or (before.parent == step.parent and before.branch is step.branch)
            label = "" if after.trigger == SUCCEEDED else _TRIGGERS[after.trigger]
            yield _arrow(after.step, target, label, shown, places)
        if parent is not None and not is_body and not inside and parent.name in places:
            yield _arrow(parent.name, target, "true" if step.branch else "false", shown, places)


def _arrow(start: str, end: str, label: str, shown: Mapping[str, ShownStep], places: Mapping[str, int]) -> Arrow:
    faint = State.LEFT_OUT in {shown[start].state, shown[end].state}
    return Arrow(start=places[start], end=places[end], label=label, faint=faint)


def _needed(arrows: Iterable[Arrow], number: int) -> Iterator[Arrow]:
    """Without those between boxes that other arrows lead between."""
    following: list[list[int]] = [[] for _ in range(number)]
    entering = [0] * number
    for each in arrows:
        following[each.start].append(each.end)
        entering[each.end] += 1
    order = [box for box in range(number) if not entering[box]]
    for box in order:  # it grows
        for after in following[box]:
            entering[after] -= 1
            if not entering[after]:
                order.append(after)
    reached = [0] * number
    """The boxes that each leads to, as bits."""
    for box in reversed(order):
        for after in following[box]:
            reached[box] |= 1 << after | reached[after]
    for each in arrows:
        others = (after for after in following[each.start] if after != each.end)
        if each.label or not any(reached[after] >> each.end & 1 for after in others):
            yield each

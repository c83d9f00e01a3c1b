"""Runs a definition without doing anything: each attempt of a step takes the time, and ends as, the script says.

A script has a line for each step that does not succeed after a second, and in it for each attempt
`SECONDS STATE [EXCEPTION] [reason]`:

    Train: 10 Failed SageMaker.CAPACITY_ERROR no capacity; 5 Succeeded

and `stop at SECONDS`, `parallel NUMBER`, `select NAME …`, `given NAME=VALUE`, `items STEP a b c`.
"""

import heapq
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.pipelines.conditions import all_hold
from smlocal.sagemaker.pipelines.deciding import End, Execution, Progress, Start, State
from smlocal.sagemaker.pipelines.definition import Definition
from smlocal.sagemaker.pipelines.listing import Listed, listed
from smlocal.sagemaker.pipelines.parameters import values_of
from smlocal.sagemaker.pipelines.reading import read_definition
from smlocal.sagemaker.pipelines.recording import recalled, recorded
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError, evaluate

SOURCE = "arn:aws:sagemaker:us-east-1:123456789012:pipeline/p/execution/before"


def definition_of(steps: str) -> Definition:
    """The definition with these steps in YAML. Every Lambda has a stand-in."""
    text = f'Version: "2020-12-01"\n{steps}'
    document = load_document(text, name="pipeline.yaml", directory="/")
    stand_ins = [name for name, kind in _names(document.data["Steps"]) if kind == "Lambda"]
    return read_definition(document, stand_ins=stand_ins)


def _names(steps: list[Any]) -> Any:
    for step in steps:
        yield step["Name"], step["Type"]
        arguments = step.get("Arguments") or {}
        for name in ("IfSteps", "ElseSteps", "ForEachBody"):
            yield from _names(arguments.get(name) or [])


@dataclass(kw_only=True)
class Script:
    """What is to happen."""

    attempts: dict[str, list[tuple[float, End]]] = field(default_factory=dict)
    stop_at: float | None = None
    parallel: int | None = None
    selected: list[str] | None = None
    given: dict[str, str] = field(default_factory=dict)
    items: dict[str, list[str]] = field(default_factory=dict)


def script_of(text: str) -> Script:
    """The script in these lines."""
    script = Script()
    for line in filter(None, map(str.strip, text.splitlines())):
        word, *rest = line.split()
        if word == "stop":
            script.stop_at = float(rest[1])
        elif word == "parallel":
            script.parallel = int(rest[0])
        elif word == "select":
            script.selected = rest
        elif word == "given":
            script.given |= dict(each.split("=", 1) for each in rest)
        elif word == "items":
            script.items[rest[0]] = rest[1:]
        else:
            name, ends = line.split(":", 1)
            script.attempts[name] = [_end(each) for each in ends.split(";")]
    return script


def _end(text: str) -> tuple[float, End]:
    seconds, state, *rest = text.split()
    exception = rest.pop(0) if rest and "." in rest[0] else ""
    return float(seconds), End(state=State(state), exception=exception, reason=" ".join(rest))


class Simulation:
    """One run."""

    def __init__(self, definition: Definition, script: Script, kept: dict[str, Progress] | None = None) -> None:
        """`kept`: as `Execution` takes it."""
        self.execution = Execution(definition, parallel=script.parallel, kept=kept, selected=script.selected)
        self.script = script
        values, wrong = values_of(definition.parameters, script.given)
        assert not wrong
        self.known = Known(parameters=values)
        self.resumes = False
        """Whether every event is followed by an end of the leader, whose successor continues."""
        self.ends: list[tuple[float, int, str, End]] = []
        self.most_at_once = 0
        self._number = 0

    def run(self) -> "Simulation":
        """Until it is over."""
        now, stop_at = 0.0, self.script.stop_at
        while True:
            if stop_at is not None and now >= stop_at:
                for action in self.execution.stop(now):
                    self._ends_at(now + 1, action.step, End(state=State.STOPPED), replaces=True)
                stop_at = None
            while begun := self.execution.actions(now):
                for action in begun:
                    assert isinstance(action, Start)
                    self._start(action, now)
            self.most_at_once = max(self.most_at_once, len(self.ends))
            if self.execution.is_over:
                return self
            times = [self.ends[0][0] if self.ends else None, self.execution.next_time(), stop_at]
            now = min(time for time in times if time is not None)
            while self.ends and self.ends[0][0] <= now:
                _, _, name, end = heapq.heappop(self.ends)
                self.execution.ended(name, end, now)
            if self.resumes:
                self._resume(now)

    def _resume(self, now: float) -> None:
        before = self.execution
        stored = json.loads(json.dumps({name: recorded(each) for name, each in before.progress.items()}))
        kept = {name: recalled(each) for name, each in stored.items()}
        assert kept == before.progress
        after = Execution(before.definition, parallel=self.script.parallel, kept=kept, selected=self.script.selected)
        for name, step in before.definition.steps.items():
            running = name in before.progress and before.progress[name].state in {State.EXECUTING, State.STOPPING}
            if step.type.name == "ForEach" and running:
                after.expanded(name, self.script.items[name], now)
        if before.stopping:
            after.stop(now, again=True)
        self.execution = after

    def _start(self, action: Start, now: float) -> None:
        name = action.step
        step = self.execution.steps[name]
        if step.type.name == "ForEach":
            self.execution.expanded(name, self.script.items[name], now)
        elif step.type.name == "Condition":
            try:
                outcome = all_hold(step.arguments["Conditions"], self.known)
            except ValueUnknownError as error:
                self.execution.ended(name, End(state=State.FAILED, reason=str(error)), now)
                return
            self.execution.ended(name, End(state=State.SUCCEEDED, outcome=outcome), now)
        elif step.type.name == "Fail":
            message = evaluate(step.arguments.get("ErrorMessage", ""), self.known)
            self.execution.ended(name, End(state=State.FAILED, reason=message), now)
        else:
            self.execution.started(name, {step.type.metadata: {"Arn": f"{name}/{action.attempt}"}})
            scripted = self.script.attempts.get(name, [])
            seconds, end = (
                scripted[action.attempt - 1] if action.attempt <= len(scripted) else (1.0, End(state=State.SUCCEEDED))
            )
            self._ends_at(now + seconds, name, end)

    def _ends_at(self, at: float, name: str, end: End, *, replaces: bool = False) -> None:
        if replaces:
            self.ends = [each for each in self.ends if each[2] != name]
            heapq.heapify(self.ends)
        self._number += 1
        heapq.heappush(self.ends, (at, self._number, name, end))

    def shown(self) -> list[str]:
        """A line for each step of the list, then one for the execution."""
        steps = [Listed.of(self.execution.steps[name], each) for name, each in self.execution.progress.items()]
        rows = [_shown(row) for row in listed(steps)]
        return [*rows, " ".join(filter(None, ["=", self.execution.status, self.execution.reason]))]


def _shown(row: dict[str, Any]) -> str:
    times = f"{row['StartTime']:g}-{row['EndTime']:g}" if "EndTime" in row else f"{row['StartTime']:g}-"
    pieces = [row["StepName"], row["StepStatus"], times]
    if row["AttemptCount"] != 1:
        pieces.append(f"attempts={row['AttemptCount']}")
    metadata = row["Metadata"]
    if "Condition" in metadata:
        pieces.append(f"Outcome={metadata['Condition']['Outcome']}")
    if "ForEach" in metadata:
        pieces.append(f"{metadata['ForEach']['Status']}")
    if "Fail" in metadata:
        pieces.append(f"ErrorMessage={metadata['Fail']['ErrorMessage']!r}")
    if "IterationContext" in row:
        context = row["IterationContext"]
        pieces.append(f"{context['ParentStepName']}[{context['Index']}]={context['Item']}")
    if "SelectiveExecutionResult" in row:
        pieces.append("from the source")
    if "FailureReason" in row:
        pieces.append(f"because {row['FailureReason']!r}")
    return " ".join(pieces)


def cases(text: str) -> list[tuple[str, list[str]]]:
    """The cases of a file: a title after `== `, then parts that lines of `---` separate."""
    found = []
    for each in text.split("\n== ")[1:]:
        title, _, body = each.partition("\n")
        parts: Sequence[str] = body.split("\n---\n")
        found.append((title.strip(), [part.strip("\n") for part in parts]))
    return found

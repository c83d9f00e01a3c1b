"""What an execution does: definitions and scripted ends in, the list of its steps out."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from smlocal.sagemaker.pipelines.deciding import Execution, Progress, Start, State
from smlocal.sagemaker.pipelines.selecting import kept_from, selection_trouble

from .simulated import SOURCE, Script, Simulation, cases, definition_of, script_of
from .steps import with_requests

CASES = cases((Path(__file__).parent / "runs.txt").read_text(encoding="utf-8"))


def kept_for_retry(progress: Mapping[str, Progress]) -> dict[str, Progress]:
    """What an execution that is retried has already: the steps that have succeeded."""
    return {name: each for name, each in progress.items() if each.state is State.SUCCEEDED}


@pytest.mark.parametrize(("title", "parts"), CASES, ids=[title for title, _ in CASES])
def test_a_run(title: str, parts: list[str]) -> None:
    steps, *rest = parts
    script, expected = rest if len(rest) > 1 else ("", rest[0].removeprefix("---\n"))
    simulation = Simulation(definition_of(with_requests(steps)), script_of(script)).run()
    assert simulation.shown() == expected.splitlines(), title


@pytest.mark.parametrize(("title", "parts"), CASES, ids=[title for title, _ in CASES])
def test_a_run_that_is_continued_after_each_event(title: str, parts: list[str]) -> None:
    """By what is known of its steps; it ends in the same way."""
    definition, script = definition_of(with_requests(parts[0])), parts[1] if len(parts) > 2 else ""
    whole, continued = Simulation(definition, script_of(script)), Simulation(definition, script_of(script))
    continued.resumes = True
    assert continued.run().shown() == whole.run().shown(), title


DIAMOND = """Steps:
- {Name: A, Type: Lambda}
- {Name: B, Type: Lambda, DependsOn: [A]}
- {Name: C, Type: Lambda, DependsOn: [A]}
- {Name: D, Type: Lambda, DependsOn: [B, C]}
"""


def test_a_retry_of_an_execution_keeps_what_has_succeeded() -> None:
    definition = definition_of(DIAMOND)
    before = Simulation(definition, script_of("B: 1 Failed it broke")).run()
    assert before.shown()[-1].startswith("= Failed")
    again = Simulation(definition, Script(), kept_for_retry(before.execution.progress)).run()
    assert [line.split()[0] for line in again.shown()] == ["D", "B", "C", "A", "="]
    assert again.execution.status == "Succeeded"


def test_a_retry_goes_on_in_the_branch_that_was_taken() -> None:
    steps = """Steps:
- Name: C
  Type: Condition
  Arguments:
    Conditions: [{Type: Equals, LeftValue: 1, RightValue: 1}]
    IfSteps: [{Name: X, Type: Lambda}, {Name: Y, Type: Lambda, DependsOn: [X]}]
    ElseSteps: [{Name: Z, Type: Lambda}]
"""
    definition = definition_of(steps)
    before = Simulation(definition, script_of("Y: 1 Failed it broke")).run()
    again = Simulation(definition, Script(), kept_for_retry(before.execution.progress)).run()
    assert again.shown() == [
        "Y Succeeded 0-1",
        "X Succeeded 0-1",
        "C Succeeded 0-0 Outcome=True",
        "= Succeeded",
    ]


def test_a_selective_execution_takes_the_rest_from_its_source() -> None:
    definition = definition_of(DIAMOND)
    source = Simulation(definition, Script()).run().execution.progress
    assert selection_trouble(definition, ["B", "D"], source_arn=SOURCE, source=source) is None
    kept = kept_from(definition, {"B", "D"}, source, SOURCE)
    run = Simulation(definition, script_of("select B D"), kept).run()
    assert run.shown() == [
        "D Succeeded 1-2",
        "B Succeeded 0-1",
        "C Succeeded 1-2 attempts=0 from the source",
        "A Succeeded 0-1 attempts=0 from the source",
        "= Succeeded",
    ]


@pytest.mark.parametrize(
    ("selected", "source", "sentence"),
    [
        (["A"], None, None),
        (
            ["B", "D"],
            None,
            "Invalid SourcePipelineExecutionArn: null. The selected steps [B, D] have dependencies on [A, C]",
        ),
        (
            ["A", "D"],
            {"B": Progress(state=State.SUCCEEDED), "C": Progress(state=State.SUCCEEDED)},
            "The steps [B, C] are between selected steps [A, D], and must be selected too.",
        ),
        (["X"], None, "The selected steps [X] are not in the pipeline."),
        (
            ["D"],
            {"B": Progress(state=State.SUCCEEDED), "C": Progress(state=State.FAILED)},
            f"Invalid SourcePipelineExecutionArn: {SOURCE}. The selected steps [D] have dependencies on [C]",
        ),
    ],
)
def test_a_selection_without_what_it_needs(
    selected: list[str], source: dict[str, Progress] | None, sentence: str | None
) -> None:
    arn = SOURCE if source else None
    assert selection_trouble(definition_of(DIAMOND), selected, source_arn=arn, source=source or {}) == sentence


def test_an_execution_that_is_told_the_same_again_is_where_it_was() -> None:
    definition = definition_of(DIAMOND)
    first, second = Execution(definition), Execution(definition)
    for execution in (first, second):
        assert execution.actions(0) == [Start(step="A", attempt=1)]
        execution.started("A", {"Lambda": {"Arn": "a"}})
    assert first.progress == second.progress
    assert first.status == "Executing"


@pytest.mark.parametrize("shape", ["row", "fan", "one waits for all"])
def test_the_work_of_a_large_pipeline_grows_with_its_steps(shape: str) -> None:
    """The calls, and not the time, which other processes change."""
    counts = []
    for number in (250, 1000):
        waits = {"row": "[S{}]", "fan": "[S0]", "one waits for all": "[]"}[shape]
        lines = ["Steps:", "- {Name: S0, Type: Lambda}"]
        lines += [f"- {{Name: S{i}, Type: Lambda, DependsOn: {waits.format(i - 1)}}}" for i in range(1, number)]
        if shape == "one waits for all":
            every = ", ".join(f"S{i}" for i in range(number))
            lines.append(f"- {{Name: Last, Type: Lambda, DependsOn: [{every}]}}")
        run = Simulation(definition_of("\n".join(lines)), script_of("parallel 7"))
        counts.append(_calls(run))
        assert run.execution.status == "Succeeded"
        assert run.most_at_once <= 7
    assert counts[1] < 5 * counts[0]


def _calls(run: Simulation) -> int:
    number = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal number
        number += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run.run()
    finally:
        sys.setprofile(before)
    return number


def test_a_retry_makes_only_the_items_again_that_failed() -> None:
    steps = """Steps:
- Name: Each
  Type: ForEach
  Arguments:
    IterableItems: [a, b]
    MaxConcurrency: 2
    ForEachBody: [{Name: Item, Type: Lambda}]
- {Name: Last, Type: Lambda, DependsOn: [Each]}
"""
    definition = definition_of(steps)
    before = Simulation(definition, script_of("items Each a b\nItem-1: 5 Failed no")).run()
    assert before.execution.status == "Failed"
    again = Simulation(definition, script_of("items Each a b"), kept_for_retry(before.execution.progress)).run()
    assert again.shown() == [
        "Last Succeeded 1-2",
        "Item-1 Succeeded 0-1 Each[1]=b",
        "Each Succeeded 0-1 Succeeded",
        "Item-0 Succeeded 0-1 Each[0]=a",
        "= Succeeded",
    ]
    last = Simulation(definition, Script(), kept_for_retry(again.execution.progress)).run()
    assert last.shown()[-1] == "= Succeeded"
    assert len(last.shown()) == 5

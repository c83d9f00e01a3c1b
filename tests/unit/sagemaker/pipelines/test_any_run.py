"""Random pipelines with random ends: what is true of every run."""

import os
import random

import pytest

from smlocal.sagemaker.pipelines.deciding import End, State
from smlocal.sagemaker.pipelines.definition import Definition

from .simulated import Script, Simulation, definition_of

EXAMPLES = int(os.environ.get("SMLOCAL_EXAMPLES", "100"))
ENDS = (State.SUCCEEDED, State.SUCCEEDED, State.SUCCEEDED, State.FAILED, State.STOPPED)


def pipeline(chance: random.Random) -> Definition:
    """With branches, and steps that wait for success or for failure."""
    lines = ["Steps:"]
    outside: list[str] = []
    for number in range(chance.randint(1, 12)):
        name = f"S{number}"
        after = [_dependency(chance, each) for each in chance.sample(outside, min(len(outside), chance.randint(0, 3)))]
        waits = f", DependsOn: [{', '.join(after)}]"
        if chance.random() < 0.2:
            inner = [f"{{Name: {name}{side}, Type: Lambda{waits}}}" for side in "TF"]
            condition = f"{{Type: Equals, LeftValue: {chance.randint(0, 1)}, RightValue: 1}}"
            arguments = f"Conditions: [{condition}], IfSteps: [{inner[0]}], ElseSteps: [{inner[1]}]"
            lines.append(f"- {{Name: {name}, Type: Condition, Arguments: {{{arguments}}}}}")
        else:
            lines.append(f"- {{Name: {name}, Type: Lambda{waits}}}")
        outside.append(name)
    return definition_of("\n".join(lines))


def _dependency(chance: random.Random, name: str) -> str:
    trigger = chance.choice(["", "", "", "Failed", "Stopped", "Any"])
    return f"{{Step: {name}, Trigger: {trigger}}}" if trigger else name


def script(chance: random.Random, definition: Definition) -> Script:
    """With ends at equal and at different times, and sometimes a stop."""
    found = Script(parallel=chance.choice([None, 1, 2, 3]))
    for name, step in definition.steps.items():
        if step.type.name == "Lambda":
            found.attempts[name] = [(float(chance.randint(1, 4)), End(state=chance.choice(ENDS), reason="r"))]
    if chance.random() < 0.3:
        found.stop_at = float(chance.randint(0, 12))
    return found


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_any_run(seed: int) -> None:
    chance = random.Random(seed)
    definition = pipeline(chance)
    scripted = script(chance, definition)
    whole, continued = Simulation(definition, scripted), Simulation(definition, scripted)
    continued.resumes = True
    whole.run()
    assert continued.run().shown() == whole.shown()
    assert whole.most_at_once <= (scripted.parallel or 50)
    progress = whole.execution.progress
    ended = {State.SUCCEEDED, State.FAILED, State.STOPPED}
    assert {each.state for each in progress.values()} <= {*ended, State.LEFT_OUT}
    for name, each in progress.items():
        if each.state is State.LEFT_OUT:
            continue
        for after in definition.steps[name].after:
            before = progress[after.step]
            assert before.ended is not None
            assert each.began is not None
            assert before.ended <= each.began
            assert after.trigger in {before.state.value, "Any"}
    for name, each in progress.items():
        if each.state is State.LEFT_OUT and not whole.execution.stopping:
            step = definition.steps[name]
            wrong = any(after.trigger not in {progress[after.step].state.value, "Any"} for after in step.after)
            never = any(progress[after.step].state is State.LEFT_OUT for after in step.after)
            parent = None if step.parent is None else progress[step.parent]
            other = parent is not None and parent.outcome is not step.branch
            assert wrong or never or other

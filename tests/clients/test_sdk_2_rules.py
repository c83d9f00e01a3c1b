"""SDK v2: debugger rules with actions, whose own library ends a run that learns nothing more."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.clients.conftest import User, last_json

import smlocal.debugger

SCRIPT = Path(__file__).with_name("scripts") / "flat_loss.py"


@pytest.mark.large("tests/kit/images/debugger")
@pytest.mark.slow(66)
@pytest.mark.long
def test_a_flat_run_is_ended_by_its_rule_and_a_healthy_one_is_not(
    user: User,
    image: Callable[[str | Path], str],
    smlocal_run: Callable[..., Any],
    assert_nothing_left: Callable[[str], None],
) -> None:
    base = image(Path(smlocal.debugger.__path__[0]) / "evaluator_image")
    smlocal_run("rules", "build", "--base", base, "--quiet", check=True)
    found = last_json(user.execute("sdk-2", "sdk2_rules.py", image("debugger"), SCRIPT, "sdk2-rules").stdout)

    flat, healthy = found["flat"], found["healthy"]
    assert (flat["status"], flat["rule"]) == ("Stopped", "IssuesFound")
    assert flat["details"].startswith("RuleEvaluationConditionMet: Evaluation of the rule LossNotDecreasing at step 1")
    assert 1000 < flat["steps"] <= 2000
    assert (healthy["status"], healthy["steps"]) == ("Completed", 4000)
    assert healthy["rule"] in {"NoIssuesFound", "Stopped"}  # stopped: this machine is too busy to read all in time
    shown = smlocal_run("rules", "sdk2-rules-flat", check=True).stdout
    assert "LossNotDecreasing: the job sdk2-rules-flat was stopped" in shown
    assert "LossNotDecreasing: email to me@example.com, not sent: SMDebugRule:LossNotDecreasing fired." in shown
    assert "LossNotDecreasing: sms to +15550100, not sent: SMDebugRule:LossNotDecreasing fired." in shown
    assert "was stopped" not in smlocal_run("rules", "sdk2-rules-healthy", check=True).stdout
    assert_nothing_left("sdk2-rules-flat")
    assert_nothing_left("sdk2-rules-healthy")

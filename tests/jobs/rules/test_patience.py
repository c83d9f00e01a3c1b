"""Rules after the training: one that reads on is waited for; and what a rule says that was left without tensors."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from tests.jobs.rules.test_rules import OUTLIVES, patiently, rules, statuses

import smlocal
from smlocal.debugger import job_rules

__all__ = ["rules"]  # a fixture
Clean = Callable[[str], None]
MOST = job_rules.QUIET_SECONDS


@pytest.mark.slow(1)
def test_a_rule_that_reads_on_is_waited_for_and_one_that_waits_for_ever_is_stopped(
    life: Any, rules: Callable[..., Any], assert_nothing_left: Clean, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = 0.0
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed, time=time.time, sleep=time.sleep)
    monkeypatch.setattr(job_rules, "time", clock)
    monkeypatch.setenv("SMLOCAL_HOME", str(life.home))
    reads = "at_end; say InProgress 1; until_there more; say InProgress 2; until_there most; say NoIssuesFound 3"
    asked = rules(Reads=reads, Waits=OUTLIVES)
    hook = {"DebugHookConfig": {"S3OutputPath": "./debug"}}
    file = life.job_file("rules-patience", "true", DebugRuleConfigurations=asked, **hook)
    tensors = life.folder / "debug" / "rules-patience" / "debug-output"
    status = life.home / "jobs" / "rules-patience" / "rules" / "0" / "result" / "status.json"

    def shown() -> dict[str, str]:
        return statuses(smlocal.TrainingJob("rules-patience").describe())

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(smlocal.run, file)
        for step, told in (("1", "more"), ("2", "most")):
            patiently(lambda step=step: status.exists() and f'"Step": {step}' in status.read_text())  # type: ignore[misc] # one expression
            passed += 0.7 * MOST
            (tensors / told).touch()
        patiently(lambda: shown() == {"Reads": "NoIssuesFound", "Waits": "InProgress"})
        passed += MOST
        answer = running.result(200).describe()
    assert answer["TrainingJobStatus"] == "Completed"
    found = {each["RuleConfigurationName"]: each for each in answer["DebugRuleEvaluationStatuses"]}
    assert statuses(answer) == {"Reads": "NoIssuesFound", "Waits": "Stopped"}
    assert found["Waits"]["StatusDetails"] == "it read nothing for 300 s after the training"
    assert_nothing_left("rules-patience")


DISABLED = """echo loss=1
echo '[algo-1:9 ERROR] SMDebug error has occurred, disabling SMDebug for the rest of the training job. Stack trace:'
echo 'Traceback (most recent call last):'
echo '  File "/hook.py", line 331, in forward_pre_hook'
echo 'AttributeError: no tostring'
echo m >/opt/ml/model/m"""


@pytest.mark.slow(1)
def test_a_hook_that_disabled_itself_is_told(life: Any, rules: Callable[..., Any], assert_nothing_left: Clean) -> None:
    asked = rules(Nothing="at_end; say NoIssuesFound 0 found no tensors", Finds="at_end; say IssuesFound 3 flat")
    hook = {"DebugHookConfig": {"S3OutputPath": "./debug"}}
    done = life("run", "--json", life.job_file("rules-disabled", DISABLED, DebugRuleConfigurations=asked, **hook))
    assert done.returncode == 0, done.stderr
    sentence = (
        "The hook of smdebug disabled itself (line 2 of the log of algo-1: AttributeError: no tostring), "
        "so no tensors were saved after that."
    )
    answer = json.loads(done.stdout)
    found = {each["RuleConfigurationName"]: each for each in answer["DebugRuleEvaluationStatuses"]}
    assert found["Nothing"]["StatusDetails"] == f"{sentence} found no tensors"
    assert found["Finds"]["StatusDetails"] == "flat"
    assert answer["Local"]["Hints"] == [sentence]
    assert "The hook of smdebug disabled itself" in done.stderr
    assert_nothing_left("rules-disabled")

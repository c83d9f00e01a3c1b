"""Debugger rules that do what a rule should not. Each has a status of its own, so all are in one job."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.rules.test_rules import INSTANCE, patiently, statuses

import smlocal.debugger

AWS = "895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rules:latest"
GARBAGE = "/opt/ml/output/tensors/collections/000000000"
TRAINS = (
    f"mkdir -p {GARBAGE}; echo garbage >{GARBAGE}/worker_0_collections.json; echo ready; "
    "until [ -e /opt/ml/output/go ]; do sleep 0.05; done"
)
LOG_BYTES = 6_000_000
SOURCES = {
    "Exits": "import os\nos._exit(0)\n",
    "Forks": "import os, time\nwhile True:\n    if os.fork() == 0:\n        time.sleep(1000)\n",
    "Pandas": "import pandas as pd\nraise ValueError(pd.Series([1, 2]).sum())\n",
    "Prints": "line = 'x' * 99_999\nfor n in range(400):\n    print(line)\n"
    "open('/opt/ml/processing/output/rule/printed', 'w')\nwhile True:\n    print(line)\n",
    "Stays": "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(1000)\n",
}


def rule(name: str, **parameters: str) -> dict[str, Any]:
    return {"RuleConfigurationName": name, "RuleEvaluatorImage": AWS, "RuleParameters": parameters, **INSTANCE}


@pytest.mark.slow(46)
@pytest.mark.long
def test_rules_that_do_what_they_should_not(
    life: Any, image: Callable[[str | Path], str], assert_nothing_left: Callable[[str], None]
) -> None:
    base = image(Path(smlocal.debugger.__path__[0]) / "evaluator_image")
    assert life("rules", "build", "--base", base, "--quiet").returncode == 0
    for name, source in SOURCES.items():
        (life.folder / f"{name}.py").write_text(source)
    asked = [
        *(rule(name, source_s3_uri=f"./{name}.py", rule_to_invoke=name) for name in SOURCES),
        rule("Missing", source_s3_uri="./nowhere.py", rule_to_invoke="Missing"),
        rule("a/b", rule_to_invoke="ExplodingTensor"),
        rule("Unknown", rule_to_invoke="VanishingGradien"),
        rule("Recorded", rule_to_invoke="CreateXgboostReport"),
    ]
    hook = {"DebugHookConfig": {"S3OutputPath": "./debug"}}
    life.detach("bad-rules", TRAINS, hosts=2, DebugRuleConfigurations=asked, **hook)
    folder = life.home / "jobs" / "bad-rules"

    def shown() -> dict[str, str]:
        return statuses(life.describe("bad-rules"))

    patiently(
        lambda: "InProgress" not in {status for name, status in shown().items() if name not in {"Prints", "Stays"}}
    )
    patiently((folder / "rules" / "3" / "result" / "printed").exists)
    for host in ("algo-1", "algo-2"):
        life.let_go("bad-rules", host)
    patiently((life.folder / "debug" / "bad-rules" / "debug-output" / "training_job_end.ts").exists)
    life.ask_to_stop("bad-rules")
    assert life("wait", "bad-rules").returncode in {0, 4}  # the stop may come after the upload, or before its end
    answer = life.describe("bad-rules")
    assert statuses(answer) == {
        "Exits": "Error",
        "Forks": "Error",
        "Pandas": "Error",
        "Prints": "Stopped",
        "Stays": "Stopped",
        "Missing": "Error",
        "a/b": "Error",
        "Unknown": "Error",
        "Recorded": "Stopped",
    }
    details = {each["RuleConfigurationName"]: each["StatusDetails"] for each in answer["DebugRuleEvaluationStatuses"]}
    assert details["Exits"] == "the rule ended its process before it had a result"
    assert details["Forks"].startswith("SourceError: BlockingIOError: ")
    assert details["Pandas"].startswith("SourceError: ValueError: 3 ")
    assert details["Missing"].endswith("nowhere.py does not exist")
    assert details["a/b"].startswith("TensorError: the collections of ")
    assert details["Unknown"] == "there is no built-in rule VanishingGradien. Did you mean VanishingGradient?"
    assert "does not evaluate it" in details["Recorded"]
    notes = {each["Id"]: each["Text"] for each in answer["Local"]["Notes"]}
    assert notes["rules-unknown"].startswith("Unknown: there is no built-in rule")
    assert "CreateXgboostReport" in notes["rules"]
    logs = {each.name: each.stat().st_size for each in os.scandir(folder / "logs")}
    assert 0 < logs["rule-Prints.log"] < LOG_BYTES
    assert "rule-a_b-6.log" in logs
    assert_nothing_left("bad-rules")

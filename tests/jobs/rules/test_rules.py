"""Debugger rules: a container for each, beside the job, and what is told of them."""

import json
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.kit.s3_servers import S3Servers

import smlocal.debugger

Clean = Callable[[str], None]

TRAINS = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.05; done"
COLLECTS = "echo 1 >/opt/ml/output/tensors/step-1; " + TRAINS
SEES, AT_END = "until_there step-1; ", "at_end; "
MET = "RuleEvaluationConditionMet: Evaluation of the rule Finds at step 40 resulted in the condition being met"
OUTLIVES = "trap : TERM; while :; do sleep 0.05; done"
INSTANCE = {"InstanceType": "ml.t3.medium", "VolumeSizeInGB": 0}


@pytest.fixture
def rules(image: Callable[[str], str]) -> Callable[..., list[dict[str, Any]]]:
    """Rules with an evaluator of a user's own, by their names and scripts."""

    def make(**scripts: str) -> list[dict[str, Any]]:
        return [
            {
                "RuleConfigurationName": name,
                "RuleEvaluatorImage": image("rule"),
                "LocalPath": "/opt/ml/own/",
                "RuleParameters": {"script": script},
                **INSTANCE,
            }
            for name, script in scripts.items()
        ]

    return make


def statuses(answer: Mapping[str, Any]) -> dict[str, str]:
    return {
        each["RuleConfigurationName"]: each["RuleEvaluationStatus"] for each in answer["DebugRuleEvaluationStatuses"]
    }


def changes(life: Any, name: str, rule: str) -> list[str]:
    """The history of one rule."""
    events = [each.data for each in life.store.events(name) if each.kind == "rule"]
    return [each["RuleEvaluationStatus"] for each in events if each["RuleConfigurationName"] == rule]


def patiently(condition: Callable[[], bool]) -> None:
    """Wait for a rule, which yields to everything else on this machine."""
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)


@pytest.mark.slow(1)
def test_what_a_rule_is_given(
    life: Any, rules: Callable[..., list[dict[str, Any]]], assert_nothing_left: Clean
) -> None:
    asked = rules(Mine="say NoIssuesFound 1 $(ls -d /opt/ml/own)")
    hook = {"DebugHookConfig": {"S3OutputPath": "./debug"}}
    done = life("run", "--json", life.job_file("rules-given", "true", DebugRuleConfigurations=asked, **hook))
    assert done.returncode == 0, done.stderr
    assert "Mine: NoIssuesFound" in done.stderr
    (entry,) = json.loads(done.stdout)["DebugRuleEvaluationStatuses"]
    assert entry["RuleConfigurationName"] == "Mine"
    assert entry["StatusDetails"] == "/opt/ml/own"
    page = life("report", "rules-given", "--html", "-").stdout
    assert page.index("Timeline") < page.index("Mine <span") < page.index("Debugger rules") < page.index("/opt/ml/own")
    assert_nothing_left("rules-given")


@pytest.mark.slow(1)
def test_what_a_rule_names_in_s3(
    life: Any, rules: Callable[..., list[dict[str, Any]]], s3_servers: S3Servers, assert_nothing_left: Clean
) -> None:
    server = s3_servers("rclone")
    bucket = server.make_bucket()
    for key, text in {"code/mine.py": b"mine", "run/index/0/a": b"", "run/events/b": b"", "runs/c": b"no"}.items():
        server.put(bucket, key, text)
    life.environment |= server.environment
    sees = "say NoIssuesFound 1 $(cat /smlocal-source/mine.py) $(cd /smlocal-trials/0; find . -type f | sort | xargs)"
    asked = rules(Mine=sees, NoSource="true", NoRun="true")
    asked[0]["RuleParameters"] |= {
        "source_s3_uri": f"s3://{bucket}/code/mine.py",
        "other_trial_0": f"s3://{bucket}/run",
    }
    asked[1]["RuleParameters"]["source_s3_uri"] = f"s3://{bucket}/code/yours.py"
    asked[2]["RuleParameters"]["other_trial_0"] = f"s3://{bucket}/ru"
    hook = {"DebugHookConfig": {"S3OutputPath": "./debug"}}
    done = life("run", "--json", life.job_file("rules-in-s3", "true", DebugRuleConfigurations=asked, **hook))
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed", done.stderr
    found = {each["RuleConfigurationName"]: each for each in answer["DebugRuleEvaluationStatuses"]}
    assert found["Mine"]["StatusDetails"] == "mine ./events/b ./index/0/a ./training_job_end.ts", found
    for rule, key in (("NoSource", "code/yours.py"), ("NoRun", "ru")):
        assert found[rule]["RuleEvaluationStatus"] == "Error"
        assert f"s3://{bucket}/{key} cannot be downloaded (there is nothing)" in found[rule]["StatusDetails"]
    assert_nothing_left("rules-in-s3")


def test_rules_that_are_not_evaluated(life: Any, rules: Callable[..., list[dict[str, Any]]]) -> None:
    aws = "895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rules:latest"
    asked = [*rules(Mine="say IssuesFound 1 found"), {"RuleConfigurationName": "Theirs", "RuleEvaluatorImage": aws}]
    file = life.job_file("rules-off", "true", DebugRuleConfigurations=asked)
    done = life("run", "--json", "--no-rules", file)
    answer = json.loads(done.stdout)
    assert statuses(answer) == {"Mine": "Stopped", "Theirs": "Stopped"}
    (note,) = (each["Text"] for each in answer["Local"]["Notes"] if each["Id"] == "rules")
    assert "Local.Rules is false" in note


@pytest.mark.slow(2)
def test_the_evaluator_image(life: Any, docker: Callable[..., str], image: Callable[[str | Path], str]) -> None:
    assert life("rules", "build", "--base", image("sh"), "--quiet").returncode == 3
    base = image(Path(smlocal.debugger.__path__[0]) / "evaluator_image")
    built = life("rules", "build", "--base", base, "--quiet")
    assert built.returncode == 0, built.stderr
    program = "from smdebug.trials import create_trial; from smdebug.rules import invoke_rule; print('imported')"
    said = docker("run", "--rm", "--network", "none", "--user", "1234", built.stdout.strip(), "python3", "-c", program)
    assert said.splitlines()[-1] == "imported"
    aws = "895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rules:latest"
    parameters = {"rule_to_invoke": "DeadRelu", "threshold_layer": "half"}
    asked = [{"RuleConfigurationName": "Mine", "RuleEvaluatorImage": aws, "RuleParameters": parameters}]
    hook = {"DebugHookConfig": {"S3OutputPath": "./debug"}}
    done = life("run", "--json", life.job_file("rules-of-aws", "true", DebugRuleConfigurations=asked, **hook))
    answer = json.loads(done.stdout)
    assert statuses(answer) == {"Mine": "Error"}
    assert (
        "threshold_layer is 'half', and must be a number" in answer["DebugRuleEvaluationStatuses"][0]["StatusDetails"]
    )
    (note,) = (each["Text"] for each in answer["Local"]["Notes"] if each["Id"] == "rules")
    assert "smlocal evaluates them" in note


SOURCE = """
from smdebug.rules import Rule

class Flat(Rule):
    def __init__(self, base_trial, least="0"):
        super().__init__(base_trial)
        self.least = int(least)

    def invoke_at_step(self, step):
        return step >= self.least and self.base_trial.tensor("CrossEntropyLoss_output_0").value(step).mean() > 0

class LargeGradient(Rule):
    def __init__(self, base_trial, threshold=100.0):
        super().__init__(base_trial)
        self.threshold = float(threshold)

    def invoke_at_step(self, step):
        means = [
            self.base_trial.tensor(name).reduction_value(step, "mean", abs=True)
            for name in self.base_trial.tensor_names(collection="gradients")
        ]
        return max(means) > self.threshold
"""
OF_AWS = "840043622174.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rule-evaluator:latest"


@pytest.mark.large("tests/kit/images/debugger")
@pytest.mark.slow(13)
@pytest.mark.long
def test_a_rule_of_a_user_ends_a_bad_run(
    life: Any, image: Callable[[str | Path], str], assert_nothing_left: Clean
) -> None:
    base = image(Path(smlocal.debugger.__path__[0]) / "evaluator_image")
    assert life("rules", "build", "--base", base, "--quiet").returncode == 0
    (life.folder / "rules").mkdir()
    (life.folder / "rules" / "mine.py").write_text(SOURCE)
    actions = [{"name": "stoptraining", "training_job_prefix": "rules-ended"}, {"name": "email", "endpoint": "a@b.c"}]
    ends = {
        "source_s3_uri": "./rules/mine.py",
        "rule_to_invoke": "Flat",
        "least": "3",
        "action_json": json.dumps(actions).replace('"', '\\"'),  # as SDK v2 writes it
    }
    looks = {
        "source_s3_uri": "s3://bucket/rules/mine.py",
        "rule_to_invoke": "LargeGradient",
        "threshold": "0.00001",
    }
    life.detach(
        "rules-ended",
        "",
        AlgorithmSpecification={"TrainingImage": image("debugger"), "TrainingInputMode": "File"},
        DebugHookConfig={
            "S3OutputPath": "./debug",
            "CollectionConfigurations": [
                {"CollectionName": name, "CollectionParameters": {"save_interval": "1"}}
                for name in ("losses", "gradients")
            ],
        },
        DebugRuleConfigurations=[
            {"RuleConfigurationName": name, "RuleEvaluatorImage": OF_AWS, "RuleParameters": parameters}
            for name, parameters in {"Flat": ends, "Large": looks}.items()
        ],
        Local={"StopGraceSeconds": 1, "Sources": {"s3://bucket/rules": "./rules"}},
    )
    patiently(lambda: changes(life, "rules-ended", "Flat") != [])
    assert life("wait", "rules-ended").returncode == 4, life.log("rules-ended")
    answer = life.describe("rules-ended")
    assert answer["TrainingJobStatus"] == "Stopped"
    assert statuses(answer) == {"Flat": "IssuesFound", "Large": "IssuesFound"}
    met = "RuleEvaluationConditionMet: Evaluation of the rule {} at step {} resulted"
    flat, large = (each.get("StatusDetails", "") for each in answer["DebugRuleEvaluationStatuses"])
    assert flat.startswith(met.format("Flat", 3))
    assert large.startswith(met.format("LargeGradient", 0))
    assert "sources-unused" not in {each["Id"] for each in answer["Local"]["Notes"]}
    shown = life("rules", "rules-ended").stdout
    assert "Flat: the job rules-ended was stopped" in shown
    assert "Flat: email to a@b.c, not sent: SMDebugRule:Flat fired." in shown
    assert_nothing_left("rules-ended")


@pytest.mark.slow(21)
@pytest.mark.long
def test_every_rule_has_a_container_beside_the_job(
    life: Any, rules: Callable[..., list[dict[str, Any]]], assert_nothing_left: Clean
) -> None:
    asked = [
        *rules(
            Finds=f"{SEES}say IssuesFound 40 {MET}",
            Ends=f"{AT_END}say NoIssuesFound 7",
            Looks=f"{AT_END}say NoIssuesFound null $(look)",
            Fails="exit 3",
            Silent="true",
            Large="dd if=/dev/zero of=/dev/null bs=2500M count=1",
        ),
        {"RuleConfigurationName": "NoImage", "RuleEvaluatorImage": "no-such-image:1"},
        {**rules(NoSource="true")[0], "RuleParameters": {"source_s3_uri": "s3://bucket/rule.py"}},
    ]
    hook = {"DebugHookConfig": {"S3OutputPath": "./debug"}}
    life.detach("rules-all", COLLECTS, DebugRuleConfigurations=asked, **hook)
    begun = life.describe("rules-all")
    assert set(statuses(begun)) == {each["RuleConfigurationName"] for each in asked}
    patiently(lambda: changes(life, "rules-all", "Large") == ["Error"])
    patiently(lambda: changes(life, "rules-all", "Finds") == ["IssuesFound"])
    running = life.describe("rules-all")
    assert running["TrainingJobStatus"] == "InProgress"
    assert statuses(running)["Ends"] == "InProgress"
    life.let_go("rules-all")
    assert life("wait", "rules-all").returncode == 0
    answer = life.describe("rules-all")
    assert answer["TrainingJobStatus"] == "Completed"
    found = {each["RuleConfigurationName"]: each for each in answer["DebugRuleEvaluationStatuses"]}
    details = {name: each.get("StatusDetails", "") for name, each in found.items()}
    assert statuses(answer) == {
        "Finds": "IssuesFound",
        "Ends": "NoIssuesFound",
        "Looks": "NoIssuesFound",
        "Fails": "Error",
        "Silent": "NoIssuesFound",
        "Large": "Error",
        "NoImage": "Error",
        "NoSource": "Error",
    }
    assert details["Finds"] == MET
    assert "exit code 3" in details["Fails"]
    assert "memory" in details["Large"]
    assert "no-such-image:1" in details["NoImage"]
    assert "Local.Sources" in details["NoSource"]
    assert re.fullmatch(f"user [1-9][0-9]* nets 1 caps 0+ memory {2 << 30}", details["Looks"])
    assert found["Finds"]["RuleEvaluationJobArn"].partition(":processing-job/")[2].startswith("rules-all-finds-")
    shown = life("rules", "rules-all")
    (line,) = (line for line in shown.stdout.splitlines() if line.startswith("Finds"))
    assert line.split()[:3] == ["Finds", "IssuesFound", "40"]
    document = json.loads(life("rules", "rules-all", "--json").stdout)
    assert {each["RuleConfigurationName"]: each.get("Step") for each in document["Rules"]}["Ends"] == 7
    assert "Finds  IssuesFound  40" in life("rules", "rules-all", "--follow").stdout
    assert_nothing_left("rules-all")


@pytest.mark.slow(2)
def test_rules_outlive_attempts_and_the_supervisor(
    life: Any, rules: Callable[..., list[dict[str, Any]]], docker: Callable[..., str], assert_nothing_left: Clean
) -> None:
    spot = {
        "EnableManagedSpotTraining": True,
        "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 900},
    }
    asked = rules(
        Ends=f"until_there step-1; {AT_END}say NoIssuesFound 1", Finds="until_there late; say IssuesFound 2 found"
    )
    hook = {"DebugHookConfig": {"S3OutputPath": "./debug"}}
    script = f"[ -e /opt/ml/checkpoints/again ] || echo 1 >/opt/ml/output/tensors/step-1; {TRAINS}; "
    script += "echo 1 >/opt/ml/output/tensors/late"
    life.detach("rules-kept", f"trap 'exit 1' TERM; {script}", DebugRuleConfigurations=asked, **hook, **spot)

    def containers() -> list[str]:
        listed = docker("ps", "--quiet", "--filter", "label=smlocal.job=rules-kept", "--filter", "label=smlocal.rule")
        return sorted(listed.split())

    patiently(lambda: len(containers()) == 2)
    begun = containers()
    life.until_logged("rules-kept", "ready")
    assert life("interrupt", "rules-kept").returncode == 0
    life.until(lambda: life.log("rules-kept").count("ready") == 2)
    assert containers() == begun
    life.crash("rules-kept")
    life.let_go("rules-kept")
    assert life("recover").returncode == 0
    answer = life.describe("rules-kept")
    assert answer["TrainingJobStatus"] == "Completed"
    assert statuses(answer) == {"Ends": "NoIssuesFound", "Finds": "IssuesFound"}
    assert_nothing_left("rules-kept")


@pytest.mark.slow(2)
def test_what_follows_an_issue_and_a_stop_while_rules_read_on(
    life: Any, rules: Callable[..., list[dict[str, Any]]], assert_nothing_left: Clean
) -> None:
    asked = rules(Tells="say IssuesFound 3 told", Stops="until_there step-1; say IssuesFound 4 stopped", Stays=OUTLIVES)
    told = life.folder / "told.json"
    local = {"Local": {"OnRule": {"Stops": "stop", "*": f"cat >{told}.draft && mv {told}.draft {told}"}}}
    hook = {"DebugHookConfig": {"S3OutputPath": "./debug"}}
    life.detach("rules-follow", f"trap 'exit 0' TERM; {COLLECTS}", DebugRuleConfigurations=asked, **hook, **local)
    patiently(told.exists)
    document = json.loads(told.read_text())
    assert (document["TrainingJobName"], document["RuleConfigurationName"]) == ("rules-follow", "Tells")
    assert (document["RuleEvaluationStatus"], document["Step"]) == ("IssuesFound", 3)
    # The tensors are complete and one rule goes on: it need not be waited for.
    patiently((life.folder / "debug" / "rules-follow" / "debug-output" / "training_job_end.ts").exists)
    life.ask_to_stop("rules-follow")
    assert life("wait", "rules-follow").returncode == 4
    answer = life.describe("rules-follow")
    assert statuses(answer) == {"Tells": "IssuesFound", "Stops": "IssuesFound", "Stays": "Stopped"}
    assert changes(life, "rules-follow", "Stays") == ["Stopping", "Stopped"]
    assert_nothing_left("rules-follow")

from typing import Any

from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.planned_job import lifecycle_replicas, lifecycle_rules
from smlocal.ai_platform.replicas import replicas
from smlocal.ai_platform.validation.rules import read_request

Json = dict[str, Any]


def test_limits_of_a_training_job(training_job: Json) -> None:
    rules = lifecycle_rules(ReplicaJobKind.TRAINING_JOB, training_job, region="europe-west4")
    assert (rules.max_running, rules.max_wait, rules.region) == (604_800, None, "europe-west4")
    assert rules.stock_out_advice.endswith("P100 or V100 instead.")
    training_job["trainingInput"]["scheduling"] = {"maxRunningTime": "60.5s", "maxWaitTime": "1800s"}
    rules = lifecycle_rules(ReplicaJobKind.TRAINING_JOB, training_job, region="europe-west4")
    assert (rules.max_running, rules.max_wait) == (60.5, 1800)


def test_limits_of_a_custom_job(custom_job: Json) -> None:
    rules = lifecycle_rules(ReplicaJobKind.CUSTOM_JOB, custom_job, region="us-central1")
    assert (rules.max_running, rules.max_wait, rules.restarts_job) == (3600, None, True)
    custom_job["jobSpec"]["scheduling"] = {"disableRetries": True, "restartJobOnWorkerRestart": True}
    rules = lifecycle_rules(ReplicaJobKind.CUSTOM_JOB, custom_job, region="us-central1")
    assert (rules.max_running, rules.disable_retries, rules.restarts_job) == (604_800, True, False)


def test_replicas_have_the_names_of_messages(custom_job: Json) -> None:
    reading = read_request(custom_job, strict=False)
    found = lifecycle_replicas(replicas(reading.kind, reading.request, job="census"))
    assert [(each.name, each.primary) for each in found] == [
        ("workerpool0-0", True),
        ("workerpool1-0", False),
        ("workerpool1-1", False),
        ("workerpool3-0", False),
    ]

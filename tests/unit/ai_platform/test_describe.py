from typing import Any

from smlocal.ai_platform.answer import ReplicaJobFacts, describe, timestamp
from smlocal.ai_platform.identity import resource_name
from smlocal.ai_platform.validation.rules import read_request

Json = dict[str, Any]
CREATED = 1_795_000_000.0


def _answer(data: Json, **facts: Any) -> Json:
    reading = read_request(data, strict=False)
    assert reading.violations == []
    known = ReplicaJobFacts(**{"job": "census_1", "created": CREATED, "updated": CREATED + 9, **facts})
    return describe(reading.kind, reading.request, known, region="europe-west4")


def test_a_training_job(training_job: Json) -> None:
    del training_job["jobId"]
    answer = _answer(training_job, state="QUEUED")
    assert (answer["jobId"], answer["state"]) == ("census_1", "QUEUED")
    assert not answer.keys() & {"startTime", "endTime", "errorMessage", "name"}
    assert answer["trainingInput"]["workerCount"] == "2"
    assert answer["trainingInput"]["parameterServerCount"] == "1"
    failed = _answer(training_job, state="FAILED", started=CREATED + 1.5, ended=CREATED + 9, message="It failed.")
    assert failed["errorMessage"] == "It failed."
    assert (failed["startTime"], failed["endTime"]) == ("2026-11-18T11:06:41.500000Z", "2026-11-18T11:06:49Z")


def test_a_custom_job(custom_job: Json) -> None:
    del custom_job["displayName"]
    custom_job["jobSpec"]["scheduling"]["disableRetries"] = False
    answer = _answer(custom_job, state="JOB_STATE_FAILED", ended=CREATED + 9, message="It failed.")
    assert answer["name"] == resource_name("census_1", region="europe-west4")
    assert answer["displayName"] == "census_1"
    assert "error" not in answer
    spec = answer["jobSpec"]
    assert [pool.get("replicaCount") for pool in spec["workerPoolSpecs"]] == ["1", "2", None, "1"]
    assert spec["workerPoolSpecs"][2] == {}
    assert "disableRetries" not in spec["scheduling"]
    later = _answer(custom_job, state="JOB_STATE_FAILED", ended=CREATED + 9, message="It failed.", code=3)
    assert later["error"] == {"code": 3, "message": "It failed."}


def test_times_are_in_utc() -> None:
    assert timestamp(0) == "1970-01-01T00:00:00Z"
    assert timestamp(CREATED + 0.25) == "2026-11-18T11:06:40.250000Z"

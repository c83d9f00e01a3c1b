"""Every public record is replayed: the request out of the answer, a run of a stand-in, and both side by side."""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.contract.records.compare import shape_differences, word_differences
from tests.contract.records.verdicts import NOT_A_TRAINING_JOB, NOT_HERE, OLDER, all_records, compared, expected

from smlocal.sagemaker.training.running import RUNNING
from smlocal.terms.statuses import Failure, FailureKind

Replay = Callable[..., dict[str, Any]]
FILLED_IN = {"CompressionType": ("None", "GZIP"), "RecordWrapperType": ("None",), "KmsKeyId": ("",)}
REQUESTED = (
    *("AlgorithmSpecification", "HyperParameters", "InputDataConfig", "OutputDataConfig", "ResourceConfig", "RoleArn"),
    *("StoppingCondition", "EnableManagedSpotTraining", "ProfilerConfig"),
)
NO_PROGRAM = {
    "fail-2022-08-08-capacity": FailureKind.CAPACITY,
    "fail-internal-two-spaces": FailureKind.INTERNAL,
}
"""Reasons that no program causes."""
PREFIX = "AlgorithmError: "
READ = "cat /opt/ml/input/config/resourceconfig.json; echo; cat /opt/ml/input/config/inputdataconfig.json; echo; env"


@pytest.fixture
def replay(tmp_path: Path, image: Callable[[str], str], smlocal_run: Callable[..., Any]) -> Replay:
    """Runs a stand-in with these members of a request; returns the answer."""

    def run(request: Mapping[str, Any], script: str, *options: str, name: str = "sh") -> dict[str, Any]:
        for folder in ("s3", "fsx/data"):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for channel in request.get("InputDataConfig", ()):
            (tmp_path / "s3" / channel["ChannelName"]).mkdir(exist_ok=True)
            (tmp_path / "s3" / channel["ChannelName"] / "a.csv").write_text("1\n")
        algorithm = {"TrainingInputMode": "File", **request.get("AlgorithmSpecification", {})}
        document = {
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
            **request,
            "TrainingJobName": "record",
            "AlgorithmSpecification": {**algorithm, "TrainingImage": image(name)},
            "Environment": {"SCRIPT": script},
            "Local": {
                "Sources": {"s3://bucket/sagemaker/training": "./s3", "fs-0123abcd": "./fsx"},
                "Output": "./out",
                **request.get("Local", {}),
            },
        }
        (tmp_path / "job.json").write_text(json.dumps(document))
        done: subprocess.CompletedProcess[str] = smlocal_run(
            "run", "job.json", "--allow-cpu", "--json", *options, cwd=tmp_path
        )
        assert done.returncode in {0, 1}, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return run


def log_of(answer: dict[str, Any]) -> str:
    return Path(answer["Local"]["Hosts"][0]["Log"]).read_text()


def request_of(facts: dict[str, Any]) -> dict[str, Any]:
    """The request, without the service's defaults."""
    asked = {name: without_defaults(facts[name]) for name in REQUESTED if name in facts}
    algorithm = asked.setdefault("AlgorithmSpecification", {})
    if algorithm.get("EnableSageMakerMetricsTimeSeries") is False:
        del algorithm["EnableSageMakerMetricsTimeSeries"]
    asked.get("ProfilerConfig", {}).pop("ProfilingIntervalInMilliseconds", None)
    for metric in facts.get("FinalMetricDataList", ()):
        # A built-in algorithm has definitions for all its metrics.
        algorithm["MetricDefinitions"] += [{"Name": metric["MetricName"], "Regex": f"#011{logged(metric)}:([0-9.]+)"}]
    return asked


def without_defaults(value: Any) -> Any:
    if isinstance(value, list):
        return [without_defaults(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: without_defaults(inner)
        for name, inner in value.items()
        if not (isinstance(inner, str) and inner in FILLED_IN.get(name, ()))
    }


def logged(metric: dict[str, Any]) -> str:
    return str(metric["MetricName"]).replace(":", "-")


@pytest.mark.parametrize("name", [each for each in compared() if all_records()[each]["kind"] == "describe"])
def test_an_answer_of_describe(name: str, replay: Replay) -> None:
    record = all_records()[name]
    metrics = "".join(
        f"\\t{logged(metric)}:{metric['Value']:.5f}" for metric in record["facts"].get("FinalMetricDataList", ())
    )
    answer = replay(request_of(record["facts"]), f"printf '[9]{metrics}\\n'; echo m >/opt/ml/model/m")
    assert shape_differences(record, answer) == expected(name)
    times = [answer[member] for member in ("CreationTime", "TrainingStartTime", "TrainingEndTime", "LastModifiedTime")]
    assert times == sorted(times)
    assert answer["TrainingTimeInSeconds"] == max(1, int(times[2]) - int(times[1]))


@pytest.mark.parametrize("name", [each for each in compared() if all_records()[each]["kind"] == "failure-reason"])
def test_a_reason_of_a_failure(name: str, replay: Replay, tmp_path: Path) -> None:
    record = all_records()[name]
    facts = record["facts"]
    if name in NO_PROGRAM:
        same = RUNNING.reason(Failure(kind=NO_PROGRAM[name])) == facts["FailureReason"]
        assert ([] if same else ["FailureReason"]) == expected(name)
        return
    reason = facts.get("FailureReason")
    text, code = (reason or "").removeprefix(PREFIX), facts.get("exit_code", 1)
    if ", exit code: " in text:
        text, _, end = text.rpartition(", exit code: ")
        code = int(end)
    elif len(reason or "") == 1024:
        text += "what was cut off" * 9
    (tmp_path / "failure").mkdir()
    (tmp_path / "failure" / "text").write_text(text)
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./failure"}}
    request = {"InputDataConfig": [{"ChannelName": "failure", "DataSource": source}]}
    script = f"cat /opt/ml/input/data/failure/text >/opt/ml/output/failure; exit {code}"
    answer = replay(request, script)
    assert answer["TrainingJobStatus"] == "Failed"
    wrong = [] if reason in {None, answer["FailureReason"]} else ["FailureReason"]
    lines = [(status, message) for status, message in facts.get("status_lines", ())]
    assert [*wrong, *word_differences(record["date"], lines, answer)] == expected(name)
    if wrong:  # nothing but the code at the end is new
        assert answer["FailureReason"] == f"{reason}, exit code: {code}"


@pytest.mark.parametrize("name", [each for each in compared() if all_records()[each]["kind"] == "log"])
def test_a_log(name: str, replay: Replay) -> None:
    record = all_records()[name]
    facts = record["facts"]
    spot = facts["BillableSeconds"] < facts["TrainingSeconds"]
    resources = json.loads(facts.get("SM_RESOURCE_CONFIG", "{}"))
    request = {
        "ResourceConfig": {"InstanceType": resources.get("current_instance_type", "ml.m5.large"), "InstanceCount": 1},
        "Local": {"ResourceConfigKeys": "without-topology"},  # it came later
        **({"EnableManagedSpotTraining": True, "StoppingCondition": WAITS} if spot else {}),
    }
    answer = replay(request, READ)
    if resources:
        assert json.loads(log_of(answer).splitlines()[0]) == resources
    lines = [(status, message) for status, message in facts["status_lines"]]
    wrong = ["BillableSeconds"] if spot != (answer["BillableTimeInSeconds"] < answer["TrainingTimeInSeconds"]) else []
    assert [*wrong, *word_differences(record["date"], lines, answer)] == expected(name)


WAITS = {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 60}


@pytest.mark.parametrize("name", [each for each in compared() if all_records()[each]["kind"] == "container-view"])
def test_what_a_container_sees(name: str, replay: Replay) -> None:
    facts = all_records()[name]["facts"]
    raw = "resourceconfig.json" in facts
    resources = facts["resourceconfig.json" if raw else "SM_RESOURCE_CONFIG"]
    channels = facts["inputdataconfig.json" if raw else "SM_INPUT_DATA_CONFIG"]
    prefix = "s3://bucket/sagemaker/training"
    request = {
        "RoleArn": "arn:aws:iam::111122223333:role/Trainer",
        "ResourceConfig": {"InstanceType": json.loads(resources)["current_instance_type"], "InstanceCount": 1},
        "InputDataConfig": [
            {
                "ChannelName": channel,
                "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": f"{prefix}/{channel}/"}},
                **({"ContentType": said["ContentType"]} if "ContentType" in said else {}),
            }
            for channel, said in json.loads(channels).items()
        ],
        "Local": {
            "Region": facts.get("request", {}).get("region", "us-west-2"),
            **({} if "topology" in resources else {"ResourceConfigKeys": "without-topology"}),
        },
    }
    # The image of the record has CUDA; its base sets the variable.
    log = log_of(replay(request, READ, name="names-gpus")).splitlines()
    if raw:
        assert log[:2] == [resources, channels]
    else:  # the toolkit has sorted the keys
        assert [json.loads(line) for line in log[:2]] == [json.loads(resources), json.loads(channels)]
    seen = dict(line.split("=", 1) for line in log[2:] if "=" in line)
    for variable, value in facts.get("environment", {}).items():
        if variable == "HOSTNAME":
            assert seen[variable].partition(".")[2] == value.partition(".")[2]
            assert seen[variable].startswith("ip-10-")
        else:
            assert seen[variable] == value
    assert expected(name) == []


def test_every_record_has_one_verdict() -> None:
    assert {*OLDER, *NOT_HERE} <= {*compared()}
    assert not OLDER.keys() & NOT_HERE.keys()
    assert {*all_records()} >= NOT_A_TRAINING_JOB
    kinds = {all_records()[each]["kind"] for each in compared()}
    assert kinds == {"describe", "failure-reason", "log", "container-view"}

"""Commands on recorded jobs of replicas."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from smlocal.ai_platform.answer import snake_case
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.replicas import replicas
from smlocal.api.execution import check_name
from smlocal.api.training_job import TrainingJob
from smlocal.cli.main import run_command_line
from smlocal.errors import JobNotFinishedError, NameInUseError
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED

Json = dict[str, Any]
POOL: Json = {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": "image"}}
CUSTOM: Json = {"jobSpec": {"workerPoolSpecs": [POOL, {**POOL, "replicaCount": 2}]}}
TRAINING: Json = {
    "trainingInput": {
        "scaleTier": "CUSTOM",
        "masterType": "n1-standard-4",
        "masterConfig": {"imageUri": "image"},
        "workerType": "n1-standard-4",
        "workerCount": 2,
    }
}
REQUESTS = {ReplicaJobKind.CUSTOM_JOB: CUSTOM, ReplicaJobKind.TRAINING_JOB: TRAINING}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for kind, request in REQUESTS.items():
        with Store.open(str(tmp_path)) as store:
            collection = "customJobs" if kind is ReplicaJobKind.CUSTOM_JOB else "jobs"
            store.create(
                f"job_of_{collection}",
                run_id="0" * 8,
                created=1.0,
                documents={
                    "request": request,
                    "job": {"Data": request, "File": "job.yaml", "Directory": str(tmp_path)},
                },
                supervisor_pid=None,
                instances=3,
                arn=f"projects/local/locations/here/{collection}/1",
                platform="ai_platform",
            ).release()
            end = COMPLETED
            store.transition(f"job_of_{collection}", status=end.status, phase=end.phase, message=end.message, at=2.0)
            logs = Path(store.directory(f"job_of_{collection}"), "logs")
        os.mkdir(logs)
        for each in replicas(kind, request, job=f"job_of_{collection}"):
            Path(logs, f"{each.host}.log").write_text(f"log of {each.host}\n")
    return tmp_path


def _of(kind: ReplicaJobKind) -> str:
    return f"job_of_{'customJobs' if kind is ReplicaJobKind.CUSTOM_JOB else 'jobs'}"


@pytest.mark.parametrize("kind", ReplicaJobKind)
def test_a_replica_is_found_by_every_name_that_is_shown(
    kind: ReplicaJobKind, capfd: pytest.CaptureFixture[str]
) -> None:
    found = replicas(kind, REQUESTS[kind], job=_of(kind))
    assert len(found) == 3
    for number, each in enumerate(found, 1):
        for name in (each.host, each.name, each.host_name, str(number), *([each.group] if each.is_primary else [])):
            assert run_command_line(["logs", _of(kind), "--host", name]) == 0
            assert capfd.readouterr().out == f"log of {each.host}\n", name


def test_an_unknown_replica(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["logs", "job_of_jobs", "--host", "algo-1"]) == 2
    assert "  It has master-0, worker-0, worker-1.\n" in capfd.readouterr().err
    # One name for two replicas is none.
    assert run_command_line(["logs", "job_of_customJobs", "--host", "workerpool1"]) == 2
    assert "It has workerpool0-0, workerpool1-0, workerpool1-1." in capfd.readouterr().err


@pytest.mark.parametrize(
    ("kind", "ended"),
    [
        (ReplicaJobKind.CUSTOM_JOB, "The custom job 'job_of_customJobs' has ended: it is JOB_STATE_SUCCEEDED."),
        (ReplicaJobKind.TRAINING_JOB, "The job of AI Platform Training 'job_of_jobs' has ended: it is SUCCEEDED."),
    ],
)
def test_a_stop_of_a_job_that_has_ended_is_refused_in_its_words(
    kind: ReplicaJobKind, ended: str, capfd: pytest.CaptureFixture[str]
) -> None:
    # More than 120 seconds are refused by SageMaker alone.
    assert run_command_line(["stop", _of(kind), "--grace", "200"]) == 2
    assert capfd.readouterr().err.startswith(f"error: {ended} ")


def test_a_running_job_is_not_finished_in_its_words(home: Path) -> None:
    with Store.open(str(home)) as store:
        begun = store.create(
            "runs",
            run_id="1" * 8,
            created=1.0,
            documents={"request": TRAINING},
            supervisor_pid=os.getpid(),
            arn="projects/local/locations/here/jobs/2",
            platform="ai_platform",
        )
        with begun:
            said = "The job of AI Platform Training 'runs' is not finished: it is PREPARING."
            with pytest.raises(JobNotFinishedError) as refused:
                TrainingJob("runs").remove()
            assert refused.value.sentence == said
            with pytest.raises(JobNotFinishedError) as refused:
                check_name("runs", replace=True)
            assert refused.value.sentence == said
            with pytest.raises(NameInUseError) as taken:
                check_name("runs", replace=False)
            assert taken.value.sentence == "A job of AI Platform Training with the name 'runs' already exists."


def test_an_interruption_is_refused_without_words_of_the_other_platform(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["interrupt", "job_of_jobs"]) == 2
    assert "the job job_of_jobs has no spot interruptions" in capfd.readouterr().err


ANSWER: Json = {
    "name": "projects/1/locations/us-central1/customJobs/7",
    "displayName": "census",
    "state": "JOB_STATE_FAILED",
    "createTime": "2026-01-01T00:00:00Z",
    "startTime": "2026-01-01T00:01:00Z",
    "endTime": "2026-01-01T00:02:30.500000Z",
    "error": {"code": 3, "message": "The replica workerpool1-1 exited with a non-zero status of 4."},
    "jobSpec": {"workerPoolSpecs": [{**POOL, "replicaCount": "1"}, {**POOL, "replicaCount": "3"}]},
}


def test_two_jobs_are_compared_in_the_words_of_their_platform(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (home / "answer.json").write_text(json.dumps(ANSWER))
    assert run_command_line(["compare", "job_of_customJobs", "answer.json", "--json"]) == 1
    found = json.loads(capfd.readouterr().out)
    assert [found[each]["state"] for each in "AB"] == ["JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED"]
    different = {
        each["Path"]: (each["A"], each["B"])
        for section in found["Sections"].values()
        for each in section["Differences"]
    }
    assert different == {
        "jobSpec.workerPoolSpecs[1].replicaCount": ("2", "3"),
        "state": ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED"),
        "error.message": (None, ANSWER["error"]["message"]),
        "JOB_STATE_RUNNING": (None, 90.5),
    }


def test_what_is_meant_when_it_is_left_out_and_spellings_are_no_differences(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / "a.json").write_text(json.dumps({"worker_pool_specs": [snake_case(POOL)], "Local": {"Keep": "all"}}))
    (home / "b.json").write_text(
        json.dumps({**ANSWER, "jobSpec": {"workerPoolSpecs": [{**POOL, "replicaCount": "1"}]}})
    )
    assert run_command_line(["compare", "a.json", "b.json"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "A  a.json   a document, a request",
        "B  b.json   a document, JOB_STATE_FAILED",
        "Nothing differs",
        "Same          request (3 members)",
        "Not compared  outcome: a.json is not a job, only a request",
    ]


def test_jobs_of_two_kinds_are_not_compared(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["compare", "job_of_customJobs", "job_of_jobs"]) == 2
    said = "job_of_customJobs is a custom job and job_of_jobs a job of AI Platform Training: they have no members"
    assert said in capfd.readouterr().err
    (home / "answer.json").write_text(json.dumps({**ANSWER, "jobSpec": {"workerPoolSpec": []}}))
    assert run_command_line(["compare", "job_of_customJobs", "answer.json"]) == 2
    assert "unknown key jobSpec.workerPoolSpec: did you mean workerPoolSpecs?" in capfd.readouterr().err


def test_a_description_becomes_a_job_file_that_can_be_run(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (home / "answer.json").write_text(json.dumps({**ANSWER, "name": "projects/1\nimage: other"}))
    assert run_command_line(["validate", "answer.json"]) == 2
    assert "  This is the description of a job. Its job file:  smlocal init answer.json\n" in capfd.readouterr().err
    assert run_command_line(["init", "answer.json", "--file", "new.yaml"]) == 0
    text = (home / "new.yaml").read_text()
    assert yaml.safe_load(text) == {"displayName": "census", "jobSpec": ANSWER["jobSpec"]}
    assert "# As the custom job projects/1 image: other: JOB_STATE_FAILED.\n" in text
    capfd.readouterr()
    assert run_command_line(["validate", "new.yaml"]) == 0
    assert capfd.readouterr().err == "valid\n"
    assert run_command_line(["init", "new.yaml", "--file", "again.yaml"]) == 2
    assert "new.yaml is the job file of a custom job already" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["reproduce", "fetch"])
def test_what_is_for_jobs_of_sagemaker_says_what_is_for_this_one(
    command: str, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / "answer.json").write_text(json.dumps(ANSWER))
    assert run_command_line([command, "answer.json"]) == 2
    lines = capfd.readouterr().err.splitlines()
    assert "answer.json is a custom job; this command takes training jobs of SageMaker" in lines[0]
    assert lines[1:3] == [
        "  Its job file:  smlocal init answer.json",
        "  Compare it with a run:  smlocal compare NAME answer.json",
    ]
    (home / "job.json").write_text(json.dumps(TRAINING))
    assert run_command_line([command, "job.json"]) == 2
    assert "  Run it:  smlocal run job.json" in capfd.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("metrics", 0, "The job job_of_jobs has no metrics: its service looks for none in the logs.\n"),
        ("tensors", 2, "error: the job job_of_jobs saves no tensors: its service has no debugger "),
        ("publish", 2, "\n  The files that its replicas wrote to buckets are already in folders of this machine.\n"),
    ],
)
def test_what_such_a_job_has_not_is_said_in_its_words(
    command: str, code: int, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([command, "job_of_jobs"]) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert said in err
    assert not any(word in err for word in ("DebugHookConfig", "MetricDefinitions", "Completed", "smdebug"))


def test_the_job_file_of_a_job_of_this_machine_is_made_as_is_said(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["fetch", "job_of_customJobs"]) == 2
    (said,) = [line for line in capfd.readouterr().err.splitlines() if "For its job file:" in line]
    described, _, made = said.partition(":  ")[2].partition(" && ")
    command, _, file = described.partition(" >")
    assert run_command_line(command.split()[1:]) == 0
    (home / file).write_text(capfd.readouterr().out)
    assert run_command_line(made.split()[1:]) == 0
    request = yaml.safe_load((home / "job.yaml").read_text())
    assert list(request) == ["displayName", "jobSpec"]
    assert run_command_line(["compare", "job_of_customJobs", "job.yaml"]) == 0

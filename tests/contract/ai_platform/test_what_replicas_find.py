"""The surroundings of programs in running replicas, read by code that was written elsewhere."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.clients.conftest import client_folder
from tests.kit import Run
from tests.kit.fixtures import IMAGES, build_image

Json = dict[str, Any]
_PROGRAMS = Path(__file__).with_name("programs")
_MODULE = "lib/python*/site-packages/google/cloud/aiplatform/training_utils/environment_variables.py"
_N1_STANDARD_4 = 9 << 30
"""Agents of the service have 40 % of its 15 GiB."""


@pytest.fixture
def find(
    tmp_path: Path, smlocal_home: Path, smlocal_run: Run, assert_nothing_left: Callable[[str], None]
) -> Callable[..., dict[str, Json]]:
    """Runs a job whose programs are in a bucket; returns what each replica has shown."""

    def run(job: Json, *, name: str, **local: Any) -> dict[str, Json]:
        programs = tmp_path / "programs"
        shutil.copytree(_PROGRAMS, programs)
        (module,) = client_folder("google-aiplatform").glob(_MODULE)
        shutil.copy(module, programs)
        file = tmp_path / "job.json"
        sources = {"gs://programs": str(programs), "gs://bucket": str(tmp_path)}
        file.write_text(json.dumps({**job, "Local": {"Sources": sources, **local}}))
        done = smlocal_run("run", file, "--name", name)
        assert done.returncode == 0, done.stderr
        assert_nothing_left(name)
        logs = (smlocal_home / "jobs" / name / "logs").glob("*.log")
        return {log.stem: json.loads(log.read_text().splitlines()[-1]) for log in logs}

    return run


@pytest.mark.large("tests/kit/images/distributed")
@pytest.mark.slow(3)
def test_a_script_of_pytorch_derives_its_ranks(find: Callable[..., dict[str, Json]]) -> None:
    program = ["python", "-B", "/gcs/programs/show_replica.py", "--sum-ranks"]
    pool = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "containerSpec": {"imageUri": build_image(IMAGES / "distributed"), "command": program},
    }
    pools = [{**pool, "replicaCount": 1}, {}, {**pool, "replicaCount": 1}]
    spec = {"workerPoolSpecs": pools, "baseOutputDirectory": {"outputUriPrefix": "gs://bucket/out"}}
    shown = find(spec, name="ranks-of-a-cluster-spec", EnforceInstanceLimits=True)
    primary, other = shown["workerpool0-0"], shown["workerpool2-0"]
    assert (primary["rank"], other["rank"], primary["sum"], other["sum"]) == (0, 1, 1.0, 1.0)
    assert (primary["task"], other["task"]) == (["workerpool0", 0], ["workerpool2", 0])
    assert (primary["tf_task"], other["tf_task"]) == (["chief", 0], ["ps", 0])
    assert primary["cluster"] == other["cluster"]
    assert primary["model"] == other["model"] == "gs://bucket/out/model/"
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for each in (primary, other):
        assert machine < _N1_STANDARD_4 or each["memory"] == _N1_STANDARD_4


@pytest.mark.slow(1)
def test_the_vendors_module_reads_a_job_of_the_older_service(find: Callable[..., dict[str, Json]]) -> None:
    image, show = build_image(IMAGES / "py"), "python3 -B /gcs/programs/show_replica.py"
    wait = "until [ -e /gcs/bucket/shown ]; do sleep 0.05; done"  # the job ends with the master
    training = {
        "scaleTier": "CUSTOM",
        "masterType": "n1-standard-4",
        "masterConfig": {"imageUri": image, "containerCommand": ["sh", "-c", f"{show} && {wait}"]},
        "workerType": "n1-standard-4",
        "workerConfig": {"imageUri": image, "containerCommand": ["sh", "-c", f"{show} && touch /gcs/bucket/shown"]},
        "workerCount": "1",
    }
    shown = find({"jobId": "census_1", "trainingInput": training}, name="vendor_module_older")
    tasks = {"master-0": ["master", 0], "worker-0": ["worker", 0]}
    assert {name: each["task"] for name, each in shown.items()} == tasks
    assert {name: each["tf_task"] for name, each in shown.items()} == tasks
    assert len({json.dumps(each["cluster"]) for each in shown.values()}) == 1
    assert {each["job"] for each in shown.values()} == {"vendor_module_older"}

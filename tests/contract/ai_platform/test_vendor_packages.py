"""The vendor's own packages read what this folder writes: discovery documents, client and training utilities."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import fastjsonschema
import pytest
from tests.clients.conftest import PROGRAMS, client_folder
from tests.kit.fixtures import IMAGES, ROOT, build_image, run_docker
from tests.kit.replica_members import leaves

from smlocal.ai_platform.answer import ReplicaJobFacts, describe, stored_form
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.planning_of_jobs import replica_variables
from smlocal.ai_platform.replicas import replicas
from smlocal.ai_platform.validation.reading import read_document
from smlocal.ai_platform.validation.rules import RequestReading, read_request

Json = dict[str, Any]
_SDK = "google-aiplatform"
_DOCUMENTS = {
    ReplicaJobKind.TRAINING_JOB: ("ml", "GoogleCloudMlV1__Job", ("projects", "jobs"), "projects/p/jobs/census_1"),
    ReplicaJobKind.CUSTOM_JOB: (
        "aiplatform",
        "GoogleCloudAiplatformV1CustomJob",
        ("projects", "locations", "customJobs"),
        "projects/0/locations/europe-west4/customJobs/42",
    ),
}
_CONTAINER = {"imageUri": "europe-docker.pkg.dev/project/train", "env": [{"name": "EMPTY", "value": ""}], "args": ["a"]}
_MACHINE = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
_REQUESTS: dict[ReplicaJobKind, Json] = {
    ReplicaJobKind.TRAINING_JOB: {
        "jobId": "census_1",
        "labels": {"team": "census"},
        "trainingInput": {
            "scaleTier": "CUSTOM",
            "masterType": "n1-standard-4",
            "masterConfig": {
                "imageUri": "gcr.io/project/train",
                "acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": 2},
            },
            "workerType": "n1-standard-4",
            "workerCount": 2,
            "evaluatorType": "n1-standard-4",
            "evaluatorCount": "1",
            "scheduling": {"maxRunningTime": "3600s", "priority": 3},
            "jobDir": "gs://bucket/census",
            "region": "europe-west4",
        },
    },
    ReplicaJobKind.CUSTOM_JOB: {
        "displayName": "census",
        "jobSpec": {
            "workerPoolSpecs": [
                {"machineSpec": _MACHINE, "replicaCount": "1", "containerSpec": _CONTAINER},
                {},
                {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 2, "containerSpec": _CONTAINER},
            ],
            "scheduling": {"timeout": "3600.5s", "disableRetries": True},
            "baseOutputDirectory": {"outputUriPrefix": "gs://bucket/census"},
        },
    },
}
_STATES = {
    ReplicaJobKind.TRAINING_JOB: ("QUEUED", "RUNNING", "FAILED"),
    ReplicaJobKind.CUSTOM_JOB: ("JOB_STATE_PENDING", "JOB_STATE_RUNNING", "JOB_STATE_FAILED"),
}


@pytest.fixture(scope="module")
def packages() -> Path:
    return _packages("google-api")


def _packages(requirements: str) -> Path:
    return next(client_folder(requirements).glob("lib/python*/site-packages"))


def _discovery(packages: Path, kind: ReplicaJobKind) -> Json:
    name = f"{_DOCUMENTS[kind][0]}.v1.json"
    document: Json = json.loads((packages / "googleapiclient/discovery_cache/documents" / name).read_text())
    return document


def _read(kind: ReplicaJobKind) -> RequestReading:
    reading = read_request(_REQUESTS[kind], strict=True)
    assert (reading.kind, reading.violations, reading.refused) == (kind, [], [])
    return reading


def _answers(kind: ReplicaJobKind) -> Iterator[Json]:
    queued, running, failed = _STATES[kind]
    for state, more in (
        (queued, {}),
        (running, {"started": 1_795_000_002.5}),
        (failed, {"started": 1_795_000_002.5, "ended": 1_795_000_009.0, "message": "It failed.", "code": 3}),
    ):
        facts: Json = {
            "job": "census_1",
            "state": state,
            "created": 1_795_000_000.0,
            "updated": 1_795_000_009.0,
            **more,
        }
        yield describe(kind, _read(kind).request, ReplicaJobFacts(**facts), region="europe-west4")


def test_the_members_are_those_of_the_discovery_documents(packages: Path) -> None:
    assert packages.exists()  # made before the script asks for it, with the clock stopped
    script = ROOT / "scripts" / "generate-ai-platform-models"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False, timeout=200)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


@pytest.mark.parametrize("kind", ReplicaJobKind)
def test_the_coverage_table_has_every_member(packages: Path, kind: ReplicaJobKind) -> None:
    schemas = _discovery(packages, kind)["schemas"]

    def count(name: str) -> int:
        total = 0
        for member in schemas[name]["properties"].values():
            if member.get("readOnly") or member.get("description", "").startswith("Output only."):
                continue
            inner = member.get("$ref") or member.get("items", {}).get("$ref")
            total += count(inner) if inner else 1
        return total

    assert len(list(leaves(kind))) == count(_DOCUMENTS[kind][1])


@pytest.mark.parametrize("kind", ReplicaJobKind)
def test_answers_and_requests_are_valid_by_the_discovery_document(packages: Path, kind: ReplicaJobKind) -> None:
    schemas = _discovery(packages, kind)["schemas"]
    root = {"$schema": "http://json-schema.org/draft-04/schema#", "definitions": _closed(schemas)}
    validate = fastjsonschema.compile({**root, "$ref": f"#/definitions/{_DOCUMENTS[kind][1]}"}, use_formats=False)
    for answer in _answers(kind):
        validate(answer)
    wrong_members: list[Json] = [{"state": "DONE"}, {"jobSpecs": {}}, {"createTime": 0}]
    for wrong in wrong_members:
        with pytest.raises(fastjsonschema.JsonSchemaException):
            validate({**next(_answers(kind)), **wrong})


def _closed(schemas: Json) -> Json:
    """The structures as JSON Schemas that take no other members."""

    def converted(value: Any) -> Any:
        if isinstance(value, list):
            return [converted(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return {"$ref": f"#/definitions/{value['$ref']}"}
        kept = {key: item for key, item in value.items() if key in {"type", "enum", "items", "additionalProperties"}}
        kept = {key: converted(item) for key, item in kept.items() if item != "any"}
        if "properties" in value:
            kept["properties"] = {name: converted(member) for name, member in value["properties"].items()}
            kept["additionalProperties"] = False
        return kept

    return {name: converted(schema) for name, schema in schemas.items()}


@pytest.mark.parametrize("kind", ReplicaJobKind)
def test_the_vendors_client_reads_an_answer(packages: Path, kind: ReplicaJobKind) -> None:
    service, _, steps, name = _DOCUMENTS[kind]
    *_, answer = _answers(kind)
    python = packages.parents[2] / "bin" / "python"
    done = subprocess.run(
        [python, PROGRAMS / "ai_platform_job.py", service, *steps, name],
        input=json.dumps(answer),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == answer


_PARTS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2.5, 2**31, 2**63, "", "1", "-7", "x", "60s", "1.5s", "0.1234567s", "999999999999s"),
    *("SPOT", "NVIDIA_L4", "NVIDIA_TESLA_T4", "ACCELERATOR_TYPE_UNSPECIFIED", "\ud800"),
    *([], {}, [1], ["a", "b"], [None], [{}], {"a": "b"}, {"a": 1}, {"machineType": "n1-standard-4"}),
    *({"image_uri": "image"}, {"disable_retries": True}, {"outputUriPrefix": "gs://bucket"}),
)
_CHANGES: tuple[tuple[str, Any], ...] = (
    ("labels", {"team": "census"}),
    ("jobSpec/enable_web_access", True),
    ("jobSpec/experimentRun", "run"),
    ("jobSpec/psc_interface_config", {"dns_peering_configs": [{"domain": "x.", "targetNetwork": "n"}]}),
    ("jobSpec/scheduling/strategy", "SPOT"),
    ("jobSpec/scheduling/max_wait_duration", "1.25s"),
    ("jobSpec/scheduling/restartJobOnWorkerRestart", False),
    ("jobSpec/workerPoolSpecs/0/replicaCount", "-0"),
    ("jobSpec/workerPoolSpecs/0/disk_spec", {"boot_disk_size_gb": "100", "bootDiskType": ""}),
    ("jobSpec/workerPoolSpecs/0/machineSpec/acceleratorType", "ACCELERATOR_TYPE_UNSPECIFIED"),
    ("jobSpec/workerPoolSpecs/0/machineSpec/reservation_affinity", {"values": ["a"]}),
    ("jobSpec/workerPoolSpecs/2/containerSpec/command", ["run"]),
    ("jobSpec/workerPoolSpecs/2/nfsMounts", [{"server": "10.0.0.1", "mount_point": "x"}]),
)


def _changed(random: Random) -> Json:
    """The custom job with valid changes, and perhaps a part that is something else."""
    document: Json = deepcopy(_REQUESTS[ReplicaJobKind.CUSTOM_JOB])
    for place, value in random.sample(_CHANGES, 3):
        target: Any = document
        *steps, last = place.split("/")
        for step in steps:
            target = target[int(step) if step.isdigit() else step]
        target[last] = deepcopy(value)
    if random.random() < 0.6:
        _damage(document, random)
    return document


def _damage(document: Json, random: Random) -> None:
    target: Any = document
    while random.random() < 0.8:
        inner = [each for each in (target.values() if isinstance(target, dict) else target) if each]
        containers = [each for each in inner if isinstance(each, dict | list)]
        if not containers:
            break
        target = random.choice(containers)
    key = random.choice([*target, "x"]) if isinstance(target, dict) else random.randrange(len(target))
    target[key] = deepcopy(random.choice(_PARTS))


@pytest.mark.slow(2)
def test_what_is_read_here_the_vendors_messages_read_alike() -> None:
    random = Random(22)
    documents = [_changed(random) for _ in range(1000)]
    python = _packages(_SDK).parents[2] / "bin" / "python"
    program = [python, PROGRAMS / "custom_job_messages.py"]
    done = subprocess.run(program, input=json.dumps(documents), capture_output=True, text=True, check=True, timeout=200)
    verdicts = Counter[tuple[bool, bool]]()
    for document, message in zip(documents, json.loads(done.stdout), strict=True):
        reading = read_document(ReplicaJobKind.CUSTOM_JOB, document, strict=False)
        # The messages know neither what is required nor what only the service sets.
        mistakes = [each for each in reading.violations if not each.text.endswith(("is required", "be in a request"))]
        verdicts[not mistakes, message is not None] += 1
        if not mistakes:
            assert (message, document) == (
                stored_form(ReplicaJobKind.CUSTOM_JOB, "CustomJob", reading.request),
                document,
            )
    assert verdicts[True, True] > 300, verdicts
    assert verdicts[False, False] > 300, verdicts
    assert verdicts[False, True] < 20, verdicts


_RESOLVE = """
import json, os, sys
import tensorflow
for config in json.loads(sys.argv[1]):
    os.environ["TF_CONFIG"] = config
    found = tensorflow.distribute.cluster_resolver.TFConfigClusterResolver()
    print(json.dumps([found.cluster_spec().as_dict(), found.task_type, found.task_id]))
"""


@pytest.mark.large("tests/kit/images/tensorflow")
@pytest.mark.slow(4)
def test_tensorflow_resolves_the_cluster_in_every_replica() -> None:
    configs = []
    for kind in ReplicaJobKind:
        reading = _read(kind)
        found = replicas(kind, reading.request, job="census_1")
        configs += [
            replica_variables(kind, reading.request, each, found, job="census_1")["TF_CONFIG"] for each in found
        ]
    image = build_image(IMAGES / "tensorflow")
    command = ["run", "--rm", "--network", "none", "--entrypoint", "python", image, "-c", _RESOLVE, json.dumps(configs)]
    resolved = [json.loads(line) for line in run_docker(*command).splitlines()]
    written = [json.loads(config) for config in configs]
    assert resolved == [[each["cluster"], each["task"]["type"], each["task"]["index"]] for each in written]
    assert [task for _, task, _ in resolved] == ["master", "worker", "worker", "evaluator", "chief", "ps", "ps"]


_UTILITIES = """
import json, sys
sys.path.insert(0, sys.argv[1])
import environment_variables as found
print(json.dumps({name: value for name, value in vars(found).items() if isinstance(value, dict | str)}, default=str))
"""


@pytest.mark.parametrize("kind", ReplicaJobKind)
def test_the_vendors_training_utilities_read_every_replica(kind: ReplicaJobKind) -> None:
    folder = _packages(_SDK) / "google/cloud/aiplatform/training_utils"
    reading = _read(kind)
    found = replicas(kind, reading.request, job="census_1")
    for replica in found:
        variables = replica_variables(kind, reading.request, replica, found, job="census_1")
        done = subprocess.run(
            [sys.executable, "-S", "-c", _UTILITIES, folder],
            env=variables,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        read = json.loads(done.stdout)
        assert read["cluster_spec"]["task"] == {"type": replica.group, "index": replica.index}
        assert read["cluster_spec"]["cluster"][replica.group][replica.index] == replica.address
        assert read["tf_config"]["task"]["index"] == replica.index
        assert read["cloud_ml_job_id"] == variables["CLOUD_ML_JOB_ID"]
        assert read.get("model_dir") == ("gs://bucket/census/model/" if kind is ReplicaJobKind.CUSTOM_JOB else None)
        assert read.get("checkpoint_dir") == variables.get("AIP_CHECKPOINT_DIR")
        assert read.get("tensorboard_log_dir") == variables.get("AIP_TENSORBOARD_LOG_DIR")

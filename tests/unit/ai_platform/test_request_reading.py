"""Documents of both kinds: what is read, and what is said about mistakes."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.validation.rules import RequestReading, read_request
from smlocal.jobfile.reading import load_document

Json = dict[str, Any]
_GONE = object()


def _read(data: Json, *, strict: bool = False) -> RequestReading:
    return read_request(data, strict=strict)


def _said(data: Json, *, strict: bool = False) -> list[str]:
    return [violation.text for violation in _read(data, strict=strict).violations]


def _changed(data: Json, place: str, value: Any) -> Json:
    """A copy with another value at `trainingInput/masterConfig/imageUri`."""
    changed = copy.deepcopy(data)
    target: Any = changed
    *steps, last = [int(step) if step.isdigit() else step for step in place.split("/")]
    for step in steps:
        target = target.setdefault(step, {}) if isinstance(target, dict) else target[step]
    if value is _GONE:
        del target[last]
    elif isinstance(target, list) and last == len(target):
        target.append(value)
    else:
        target[last] = value
    return changed


def test_a_training_job_is_read(training_job: Json) -> None:
    reading = _read(training_job)
    assert (reading.kind, reading.violations, reading.refused) == (ReplicaJobKind.TRAINING_JOB, [], [])
    assert reading.request["trainingInput"]["workerCount"] == 2
    assert reading.request["trainingInput"]["args"] == ["--epochs", "3"]


def test_a_custom_job_is_read_in_each_form(custom_job: Json) -> None:
    whole = _read(custom_job)
    assert (whole.kind, whole.violations, whole.refused) == (ReplicaJobKind.CUSTOM_JOB, [], [])
    assert whole.request == custom_job
    bare = _read({**custom_job["jobSpec"], "Local": {"Keep": "all"}})
    assert (bare.request, bare.violations) == ({"jobSpec": custom_job["jobSpec"]}, [])
    named = _read({"displayName": "census", **custom_job["jobSpec"]})
    assert (named.request, named.violations) == (custom_job, [])


def test_both_spellings_are_read() -> None:
    spec = {
        "worker_pool_specs": [
            {
                "machine_spec": {
                    "machine_type": "n1-standard-4",
                    "accelerator_type": "NVIDIA_TESLA_T4",
                    "accelerator_count": 1,
                },
                "replica_count": 1,
                "container_spec": {"image_uri": "image", "command": [], "args": []},
            }
        ],
        "base_output_directory": {"output_uri_prefix": "gs://bucket/census/"},
    }
    reading = _read(spec)
    assert reading.violations == []
    (first,) = reading.request["jobSpec"]["workerPoolSpecs"]
    assert first["machineSpec"]["acceleratorCount"] == 1
    spec["worker_pool_specs"][0]["replicaCount"] = 1  # type: ignore[index] # the list above
    assert _said(spec) == ["worker_pool_specs[0].replicaCount is given twice, also as replica_count"]


def test_null_and_unspecified_mean_absent(custom_job: Json) -> None:
    pool = "jobSpec/workerPoolSpecs/0/machineSpec"
    data = _changed(custom_job, f"{pool}/acceleratorType", "ACCELERATOR_TYPE_UNSPECIFIED")
    assert _read(_changed(data, "jobSpec/network", None)).request == custom_job


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ("trainingInput/masterTyp", "x", "unknown key trainingInput.masterTyp: did you mean masterType?"),
        ("trainingInput/imageUri", "x", "unknown key trainingInput.imageUri: it belongs in trainingInput.masterConfig"),
        ("scheduling", {}, "unknown key scheduling: it belongs in trainingInput"),
        ("trainingInput/zzzzzz", 1, "unknown key trainingInput.zzzzzz (known here: args, "),
        ("trainingInput/args", "--epochs", "trainingInput.args is a string and must be a list: put it in a list"),
        ("trainingInput/args/1", 3, "trainingInput.args[1] is a number and must be a string: quote it"),
        ("trainingInput/masterConfig", "image", "trainingInput.masterConfig is a string and must be a map"),
        ("trainingInput/workerCount", "two", "trainingInput.workerCount is a string and must be a whole number"),
        ("trainingInput/workerCount", 2**63, "trainingInput.workerCount does not fit into 64 bits"),
        ("trainingInput/workerCount", -1, "trainingInput.workerCount is -1 and must not be negative"),
        ("trainingInput/useChiefInTfConfig", "yes", "trainingInput.useChiefInTfConfig is a string and must be true or"),
        ("trainingInput/scaleTier", "custom", "trainingInput.scaleTier is not a value of the service: did you mean"),
        ("trainingInput/scaleTier", "BASIC", "trainingInput.masterType needs scaleTier: CUSTOM; this one is BASIC"),
        ("state", "RUNNING", "state is set by the service and cannot be in a request"),
        ("trainingInput/masterType", _GONE, "trainingInput.masterType is required with scaleTier: CUSTOM"),
        ("trainingInput/workerType", _GONE, "trainingInput.workerType is required with workerCount: 2"),
        ("trainingInput/evaluatorType", _GONE, "trainingInput.evaluatorType is required with evaluatorCount: 1"),
        (
            "trainingInput/masterType",
            "n1-standart-4",
            "trainingInput.masterType is n1-standart-4, which is not a machine type of the service: did y",
        ),
        (
            "trainingInput/masterType",
            "g2-standard-8",
            "trainingInput.masterType is g2-standard-8, which only a custom job can have",
        ),
        (
            "trainingInput/workerType",
            "complex_model_m",
            "trainingInput.workerType is complex_model_m and masterType is n1-standard-4: use Compute Engine or",
        ),
        (
            "trainingInput/masterConfig/acceleratorConfig",
            {"type": "NVIDIA_TESLA_T4"},
            "trainingInput.masterConfig.acceleratorConfig.count is required with type",
        ),
        (
            "trainingInput/masterConfig/acceleratorConfig",
            {"type": "NVIDIA_TESLA_T4", "count": "3"},
            "trainingInput.masterConfig.acceleratorConfig.count is 3 and must be 1, 2, 4 or 8",
        ),
        (
            "trainingInput/masterConfig/containerArgs",
            ["a"],
            "trainingInput.masterConfig.containerArgs cannot stand beside trainingInput.args: give one of the two",
        ),
        ("trainingInput/masterConfig/imageUri", _GONE, "trainingInput.masterConfig.imageUri is required"),
        (
            "trainingInput/workerCount",
            _GONE,
            "trainingInput.workerType is for replicas that the job does not have: set workerCount, or remove it",
        ),
        (
            "trainingInput/workerCount",
            0,
            "trainingInput.workerType is for replicas that the job does not have: set workerCount, or remove it",
        ),
        (
            "trainingInput/scheduling",
            {"maxRunningTime": "315576000001s"},
            "trainingInput.scheduling.maxRunningTime is longer than 10,000 years",
        ),
        ("trainingInput/masterConfig/imageUri", " ", "trainingInput.masterConfig.imageUri is empty"),
        ("trainingInput/jobDir", "./out", "trainingInput.jobDir must be a Cloud Storage location, such as gs://"),
        ("trainingInput/jobDir", "gs:///out", "trainingInput.jobDir must be a Cloud Storage location, such as gs://"),
        (
            "trainingInput/scheduling",
            {"maxRunningTime": 60},
            "trainingInput.scheduling.maxRunningTime must be a number of seconds with its unit: write 60s",
        ),
        (
            "trainingInput/scheduling",
            {"maxRunningTime": "1h"},
            "trainingInput.scheduling.maxRunningTime must be a number of",
        ),
        (
            "trainingInput/scheduling",
            {"maxRunningTime": "0s"},
            "trainingInput.scheduling.maxRunningTime is 0s and must be",
        ),
        (
            "trainingInput/scheduling",
            {"maxWaitTime": "1799.9s"},
            "trainingInput.scheduling.maxWaitTime is 1799.900s and must",
        ),
        (
            "trainingInput/scheduling",
            {"priority": 1001},
            "trainingInput.scheduling.priority is 1001 and must be between 0",
        ),
        ("jobId", "census-1", "jobId may have letters, digits and underscores only, and begins with a letter"),
        ("labels", {"a": "x" * 65}, "labels.a is longer than 64 characters"),
        ("jobSpec", {}, "jobSpec cannot stand beside trainingInput, which makes this a job of AI Platform Training: a"),
        ("worker_pool_specs", [], "worker_pool_specs cannot stand beside trainingInput, which makes this a job of AI"),
    ],
)
def test_a_mistake_in_a_training_job_is_named(training_job: Json, place: str, value: Any, expected: str) -> None:
    said = _said(_changed(training_job, place, value))
    assert [text for text in said if text.startswith(expected)], said


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ("jobSpec/workerPoolSpecs/0/replicaCount", 2, "replicaCount is 2 and must be 1: the first pool is the primary"),
        ("jobSpec/workerPoolSpecs/1/replicaCount", 0, "replicaCount is 0 and must be at least 1; write {} to skip a"),
        ("jobSpec/workerPoolSpecs/0", {}, " is required: the first pool is the primary replica"),
        ("jobSpec/workerPoolSpecs/2", None, " is null; write {} for an empty one"),
        ("jobSpec/workerPoolSpecs/4", {}, " is one too many: a job has at most 4 pools"),
        ("jobSpec/workerPoolSpecs/0/machineSpec", _GONE, "machineSpec.machineType is required"),
        ("jobSpec/workerPoolSpecs/0/containerSpec", _GONE, "containerSpec is required"),
        ("jobSpec/workerPoolSpecs/0/containerSpec/imageUri", _GONE, "containerSpec.imageUri is required"),
        (
            "jobSpec/workerPoolSpecs/0/containerSpec/env/0/name",
            "1A",
            "containerSpec.env[0].name must have letters, digit",
        ),
        (
            "jobSpec/workerPoolSpecs/0/containerSpec/env/0/value",
            1,
            "containerSpec.env[0].value is a number and must be a",
        ),
        ("jobSpec/workerPoolSpecs/0/containerSpec/env/0/value", _GONE, "containerSpec.env[0].value is required"),
        (
            "jobSpec/workerPoolSpecs/0/machineSpec/machineType",
            "standard",
            "machineSpec.machineType is standard, which only",
        ),
        (
            "jobSpec/workerPoolSpecs/0/machineSpec/machineType",
            "m5.large",
            "machineSpec.machineType is m5.large, which is n",
        ),
        (
            "jobSpec/workerPoolSpecs/0/machineSpec/acceleratorCount",
            1,
            "machineSpec.acceleratorType is required with accel",
        ),
    ],
)
def test_a_mistake_in_a_pool_is_named(custom_job: Json, place: str, value: Any, expected: str) -> None:
    number = place.split("/")[2]
    dot = "" if expected.startswith(" ") else "."
    for data, prefix in ((custom_job, "jobSpec."), (custom_job["jobSpec"], "")):
        said = _said(_changed(data, place if prefix else place.removeprefix("jobSpec/"), value))
        assert [text for text in said if text.startswith(f"{prefix}workerPoolSpecs[{number}]{dot}{expected}")], said


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ("displayName", " ", "displayName is empty"),
        ("displayName", "x" * 129, "displayName has 129 characters and may have 128"),
        (
            "jobSpec/workerPoolSpecs",
            [],
            "jobSpec.workerPoolSpecs[0] is required: the first pool is the primary replica",
        ),
        ("jobSpec/workerPoolSpecs", _GONE, "jobSpec.workerPoolSpecs is required"),
        ("jobSpec/baseOutputDirectory", {}, "jobSpec.baseOutputDirectory.outputUriPrefix is required"),
        (
            "jobSpec/baseOutputDirectory/outputUriPrefix",
            "s3://b/",
            "jobSpec.baseOutputDirectory.outputUriPrefix must be",
        ),
        ("jobSpec/scheduling/timeout", "-1s", "jobSpec.scheduling.timeout is -1s and must be more than 0s"),
        (
            "jobSpec/restartJobOnWorkerRestart",
            True,
            "unknown key jobSpec.restartJobOnWorkerRestart: it belongs in jobSpec.sc",
        ),
        ("workerPoolSpecs", [], "unknown key workerPoolSpecs: it belongs in jobSpec"),
        (
            "trainingInput",
            {},
            "trainingInput cannot stand beside jobSpec, which makes this a custom job: a file describes",
        ),
    ],
)
def test_a_mistake_in_a_custom_job_is_named(custom_job: Json, place: str, value: Any, expected: str) -> None:
    said = _said(_changed(custom_job, place, value))
    assert [text for text in said if text.startswith(expected)], said


@pytest.mark.parametrize(
    ("machine", "accelerator", "count", "expected"),
    [
        ("a2-highgpu-1g", "NVIDIA_TESLA_A100", 1, None),
        ("a2-highgpu-1g", "NVIDIA_L4", 1, "acceleratorType is NVIDIA_L4, and a2-highgpu-1g has NVIDIA_TESLA_A100"),
        ("a2-highgpu-1g", "NVIDIA_TESLA_A100", 2, "acceleratorCount is 2, and a2-highgpu-1g has 1"),
        ("n1-standard-4", "NVIDIA_TESLA_T4", 1, None),
        ("n1-standard-4", "NVIDIA_L4", 1, "acceleratorType is NVIDIA_L4, which cannot be attached to n1-standard-4"),
        ("e2-standard-4", "NVIDIA_TESLA_T4", 1, "acceleratorType is NVIDIA_TESLA_T4, which cannot be attached to e2-"),
    ],
)
def test_accelerators_and_machines_belong_together(
    custom_job: Json, machine: str, accelerator: str, count: int, expected: str | None
) -> None:
    spec = {"machineType": machine, "acceleratorType": accelerator, "acceleratorCount": count}
    said = _said(_changed(custom_job, "jobSpec/workerPoolSpecs/0/machineSpec", spec))
    assert [text.partition("machineSpec.")[2][: len(expected or "")] for text in said] == [expected] * bool(expected)


def test_strict_requires_what_the_services_require(training_job: Json, custom_job: Json) -> None:
    assert _said(training_job, strict=True) == []
    assert _said(custom_job, strict=True) == []
    del training_job["jobId"], training_job["trainingInput"]["region"], custom_job["displayName"]
    training_job["trainingInput"]["masterConfig"]["imageUri"] = "train:latest"
    assert _said(training_job) == _said(custom_job) == []
    *missing, registry = _said(training_job, strict=True)
    assert missing == ["trainingInput.region is required", "jobId is required"]
    assert registry.startswith("trainingInput.masterConfig.imageUri must be in Artifact Registry (LOCATION-docker.pkg")
    assert _said(custom_job, strict=True) == ["displayName is required"]


@pytest.mark.parametrize(
    ("place", "value", "row", "expected"),
    [
        (
            "trainingInput/hyperparameters",
            {"goal": "MAXIMIZE", "params": []},
            "trainingInput.hyperparameters",
            "is refused:",
        ),
        (
            "trainingInput/runtimeVersion",
            "2.1",
            "trainingInput.runtimeVersion",
            "is refused: Packages are not installed",
        ),
        (
            "trainingInput/masterType",
            "cloud_tpu",
            "trainingInput.masterType",
            "is cloud_tpu, which is refused: There are no",
        ),
    ],
)
def test_what_is_not_supported_is_refused(training_job: Json, place: str, value: Any, row: str, expected: str) -> None:
    reading = _read(_changed(training_job, place, value))
    assert reading.violations == []
    ((name, violation),) = reading.refused
    assert (name, violation.path) == (row, tuple(place.split("/")))
    assert violation.text.startswith(f"{'.'.join(place.split('/'))} {expected}")


def test_a_mistake_is_at_its_line() -> None:
    document = load_document(
        """
worker_pool_specs:
  - machineSpec: {machineType: n1-standard-4}
    replica_count: 2
    containerSpec:
      imageUri: image
      command: ls
""",
        name="job.yaml",
        directory="/",
    )
    found = {violation.text.partition(" ")[0]: violation for violation in _read(document.data).violations}
    lines = {name: document.nearest_line(violation.path) for name, violation in found.items()}
    assert lines == {"worker_pool_specs[0].replica_count": 4, "worker_pool_specs[0].containerSpec.command": 7}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data())
def test_no_document_makes_anything_but_violations(data: st.DataObject) -> None:
    example: Any = data.draw(
        st.sampled_from(
            [
                {
                    "trainingInput": {
                        "masterConfig": {"imageUri": "i"},
                        "scheduling": {"maxWaitTime": "9s"},
                        "args": ["a"],
                    }
                },
                {
                    "jobSpec": {
                        "workerPoolSpecs": [{"machineSpec": {"machineType": "x"}, "containerSpec": {"env": [{}]}}]
                    }
                },
                {"workerPoolSpecs": [{"replicaCount": 1}], "scheduling": {"timeout": "1s"}},
            ]
        )
    )
    damaged = copy.deepcopy(example)
    target: Any = damaged
    while data.draw(st.booleans()):
        inner = [
            part for part in (target.values() if isinstance(target, dict) else target) if isinstance(part, dict | list)
        ]
        if not inner:
            break
        target = data.draw(st.sampled_from(inner))
    if target:
        key = data.draw(st.sampled_from(list(target) if isinstance(target, dict) else list(range(len(target)))))
        target[key] = data.draw(_VALUES)
    reading = _read(damaged)
    assert reading.kind.value in {"Job", "CustomJob"}
    assert all(isinstance(step, str | int) for violation in reading.violations for step in violation.path)

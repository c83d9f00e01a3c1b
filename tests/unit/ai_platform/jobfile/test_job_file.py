"""Job files as people write them, and what is said about the bad ones."""

from textwrap import dedent

import pytest

from smlocal.ai_platform.jobfile.job_file import read_job
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.jobfile.reading import load_document

POOL = "{machineSpec: {machineType: n1-standard-4}, containerSpec: {imageUri: image}}"


def _document(text: str) -> Document:
    return load_document(dedent(text), name="job.yaml", directory="/")


def test_the_form_of_gcloud_for_a_training_job() -> None:
    job = read_job(
        _document(
            """
            trainingInput:
              scaleTier: CUSTOM
              masterType: n1-standard-4
              masterConfig: {imageUri: image}
              workerType: n1-standard-4
              workerCount: 2
            Local: {Keep: all}
            """
        ),
        strict=False,
    )
    assert job.kind is ReplicaJobKind.TRAINING_JOB
    assert job.request["trainingInput"]["workerCount"] == 2
    assert "Local" not in job.request
    assert job.local.Keep == "all"


def test_a_skipped_pool() -> None:
    job = read_job(_document(f"workerPoolSpecs:\n- {POOL}\n- {{}}\n- {POOL}\n"), strict=False)
    assert [bool(pool) for pool in job.request["jobSpec"]["workerPoolSpecs"]] == [True, False, True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"""
            workerPoolSpecs:
            - {POOL}
            trainingInput:
              masterConfig: {{imageUri: image}}
            """,
            ["job.yaml:4   trainingInput cannot stand beside workerPoolSpecs, which makes this a custom job"],
        ),
        (
            f"""
            workerPoolSpecs:
            - machineSpec: {{machineType: n1-standard-4}}
              containerSpec: {{imageUri: image}}
              replicaCount: 2
            - {POOL}
            - {POOL}
            - {POOL}
            - {POOL}
            """,
            [
                "job.yaml:5   workerPoolSpecs[0].replicaCount is 2 and must be 1: the first pool is",
                "job.yaml:9   workerPoolSpecs[4] is one too many: a job has at most 4 pools",
            ],
        ),
        (
            f"""
            workerPoolSpecs:
            - {POOL}
            -
            - machineSpec: {{machineType: n1-standrd-4}}
              replicaCount: 0
              containerSpec: {{imageUri: image}}
            """,
            [
                "job.yaml:4   workerPoolSpecs[1] is null; write {} for an empty one",
                "job.yaml:5   workerPoolSpecs[2].machineSpec.machineType is n1-standrd-4, which is not a machine",
                "job.yaml:6   workerPoolSpecs[2].replicaCount is 0 and must be at least 1; write {} to skip a pool",
            ],
        ),
        (
            """
            training_input:
              scale_tier: CUSTOM
              master_type: n1-standard-4
              master_config: {image_uri: image}
              worker_count: 2
              scheduling: {max_running_time: 3600}
            """,
            [
                "job.yaml:2   training_input.workerType is required with workerCount: 2",
                "job.yaml:7   training_input.scheduling.max_running_time must be a number of",
            ],
        ),
    ],
)
def test_everything_that_is_wrong_is_said_at_its_line(text: str, expected: list[str]) -> None:
    with pytest.raises(RequestInvalidError) as caught:
        read_job(_document(text), strict=False)
    details = list(caught.value.details)
    assert [line[: len(start)] for line, start in zip(details, expected, strict=True)] == expected


def test_what_is_wrong_with_local_is_in_the_same_error() -> None:
    document = _document(f"workerPoolSpecs:\n- {POOL}\n- 3\nLocal:\n  Sources:\n    s3://bucket: data\n")
    with pytest.raises(RequestInvalidError) as caught:
        read_job(document, strict=False)
    assert [line.split()[0] for line in caught.value.details] == ["job.yaml:3", "job.yaml:6"]
    assert "write gs://bucket or gs://bucket/folder" in caught.value.details[1]


def test_what_is_not_supported_is_refused_with_a_remedy() -> None:
    text = """
        trainingInput:
          scaleTier: BASIC_TPU
          masterConfig: {imageUri: image}
          runtimeVersion: "2.1"
        """
    with pytest.raises(FieldRefusedError) as caught:
        read_job(_document(text), strict=False)
    tier, runtime = caught.value.details
    assert tier == "job.yaml:3   trainingInput.scaleTier is BASIC_TPU, which is refused: There are no TPUs here."
    assert runtime.startswith("job.yaml:5   trainingInput.runtimeVersion is refused: Packages are not installed into")
    assert list(caught.value.remedy)[:2] == [
        "Use another value for trainingInput.scaleTier.",
        "Remove trainingInput.runtimeVersion to run the job here.",
    ]

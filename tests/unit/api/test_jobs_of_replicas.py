"""Messages about files that are nearly jobs of replicas, and about flags that such jobs do not take."""

import os

import pytest

from smlocal.api.job_source import read_any
from smlocal.api.overrides import Overrides
from smlocal.errors import RequestInvalidError, UsageRefusedError
from smlocal.jobfile.document import Document

_POOL = {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": "image"}}
_CUSTOM_JOB = {"workerPoolSpecs": [_POOL]}
_TRAINING_JOB = {"trainingInput": {"masterConfig": {"imageUri": "image"}}}


def _read(data: dict[str, object], given: Overrides | None = None) -> None:
    document = Document(dict(data), name="job.yaml", directory="/")
    read_any(document, given or Overrides(), path=None, fill_in=False, strict=False)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("workerpoolspecs", "workerPoolSpecs"),
        ("worker_pool_spec", "workerPoolSpecs"),
        ("JobSpec", "jobSpec"),
        ("training_inputs", "trainingInput"),
    ],
)
def test_a_misspelt_key_that_decides(key: str, meant: str) -> None:
    with pytest.raises(RequestInvalidError) as caught:
        _read({"displayName": "census", key: [], "Local": {}})
    assert list(caught.value.details) == [f"job.yaml   unknown key {key}: did you mean {meant}?"]


@pytest.mark.parametrize("data", [{"JobSpec": {}, "HyperParameters": {}}, {"trainingJobName": "a"}, {}])
def test_other_documents_are_requests(data: dict[str, object]) -> None:
    with pytest.raises(RequestInvalidError) as caught:
        _read(data)
    assert any("outputdataconfig" in line.casefold() for line in caught.value.details)


def test_members_of_requests_are_of_another_kind_of_job() -> None:
    with pytest.raises(RequestInvalidError) as caught:
        _read({**_CUSTOM_JOB, "TrainingJobName": "a", "AlgorithmSpecification": {"TrainingImage": "image"}})
    begins = [line.partition(":")[0] for line in caught.value.details]
    assert begins == [
        f"job.yaml   {key} cannot stand beside workerPoolSpecs, which makes this a custom job"
        for key in ("TrainingJobName", "AlgorithmSpecification")
    ]


def test_a_capital_letter_alone_is_a_misspelling() -> None:
    with pytest.raises(RequestInvalidError) as caught:
        _read({**_CUSTOM_JOB, "Scheduling": {}, "Locals": {}})
    details = list(caught.value.details)
    assert [line.rpartition(": ")[2] for line in details] == ["did you mean scheduling?", "did you mean Local?"]


def test_engines_are_taken() -> None:
    with pytest.raises(RequestInvalidError) as caught:
        _read({**_CUSTOM_JOB}, Overrides(engines=("far", "near")))
    assert "Local.Engines: all replicas of a job of this platform run on one engine here" in caught.value.details[0]


def test_a_number_of_gpus_overrides_allow_cpu_of_the_file() -> None:
    _read({**_CUSTOM_JOB, "Local": {"AllowCpu": True}}, Overrides(gpus="1"))


def test_an_output_folder_is_one_of_this_machine() -> None:
    document = Document(dict(_CUSTOM_JOB), name="job.yaml", directory="/")
    read_any(document, Overrides(output="out"), path=None, fill_in=False, strict=False)
    assert document.data["Local"] == {"Output": os.path.abspath("out")}


@pytest.mark.parametrize(
    ("data", "given", "remedies"),
    [
        (
            _CUSTOM_JOB,
            Overrides(credentials="inherit", publish=True),
            ["Leave out --credentials, --publish: the platform of this job does not support it."],
        ),
        (
            _CUSTOM_JOB,
            Overrides(hyperparameters={"rate": 1}, environment={"A": "b"}, image="other"),
            [
                "Write the program's arguments into args of the job file.",
                "Write environment variables into env of the job file.",
                "Change the job file instead of using --image.",
            ],
        ),
        (
            _TRAINING_JOB,
            Overrides(environment={"A": "b"}),
            ["Leave out --env: the platform of this job does not support it."],
        ),
    ],
)
def test_what_to_do_instead_of_a_flag(data: dict[str, object], given: Overrides, remedies: list[str]) -> None:
    with pytest.raises(UsageRefusedError) as caught:
        _read(data, given)
    assert list(caught.value.remedy) == remedies

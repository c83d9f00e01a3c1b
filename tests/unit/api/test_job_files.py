"""The table of kinds: how a document is recognised, and what a module must have that reads or plans a kind of jobs."""

from pathlib import Path
from typing import Any

import pytest

from smlocal.ai_platform import planning as of_replicas
from smlocal.api.job_files import KINDS, REPLICAS, JobPlanner, kind_of, refuse_unknown
from smlocal.errors import DocumentUnknownError, RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_reading import JobReading
from smlocal.jobs.kind import FOLDERS, Kind
from smlocal.pipelines import planning as of_pipelines
from smlocal.sagemaker.hosting import planning as of_endpoints
from smlocal.sagemaker.kinds import ENDPOINT, PIPELINE, PROCESSING, TRAINING, TRANSFORM, TUNING
from smlocal.sagemaker.processing import planning as of_processing
from smlocal.sagemaker.training import planning
from smlocal.sagemaker.transform import planning as of_transform
from smlocal.sagemaker.tuning import planning as of_tuning

PLANS: list[tuple[Kind, JobPlanner]] = [
    (TRAINING, planning),
    (PROCESSING, of_processing),
    (TRANSFORM, of_transform),
    (TUNING, of_tuning),
    (ENDPOINT, of_endpoints),
    (REPLICAS, of_replicas),
    (PIPELINE, of_pipelines),
]
"""Checked for types here: the table imports them by their names."""


def test_each_kind_is_read_and_planned_by_its_modules() -> None:
    assert {kind.name for kind in KINDS} == set(FOLDERS)
    assert len({kind.name for kind in KINDS}) == len(KINDS) == len(PLANS)
    for kind, planner in PLANS:
        assert kind.planning is planner
    for kind in KINDS:
        assert isinstance(kind.reads, JobReading)
        assert type(kind.reads).__module__ == kind.reading


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"AppSpecification": {}}, PROCESSING),
        ({"ProcessingInputs": []}, PROCESSING),
        ({"TransformInput": {}, "PrimaryContainer": {}}, TRANSFORM),
        ({"HyperParameterTuningJobConfig": {}}, TUNING),
        ({"trainingInput": {}}, REPLICAS),
        ({"worker_pool_specs": []}, REPLICAS),
        ({"Models": []}, ENDPOINT),
        ({"Version": "2020-12-01", "Steps": []}, PIPELINE),
        ({"PipelineName": "p", "PipelineDefinition": "{}", "RoleArn": "r"}, PIPELINE),
        ({"PipelineName": "p", "PipelineDefinitionS3Location": {}}, PIPELINE),
        ({"AlgorithmSpecification": {}, "OutputDataConfig": {}}, TRAINING),
        ({"AlgorithmSpecification": {}, "TransformInput": {}, "PrimaryContainer": {}}, TRAINING),
        ({}, TRAINING),
    ],
)
def test_a_document_is_recognised_by_its_keys(data: dict[str, Any], kind: Kind) -> None:
    assert kind_of(data) is kind
    assert all(kind_of({each.sign: {}}) is each for each in KINDS)


def unknown(**data: Any) -> DocumentUnknownError:
    with pytest.raises(DocumentUnknownError) as error:
        refuse_unknown(Document(data, name="a.yaml", directory=str(Path.cwd())))
    return error.value


def test_a_document_that_is_nothing_known_is_refused_as_that() -> None:
    error = unknown(services={}, version="3")
    assert error.sentence == "a.yaml describes no job: smlocal knows none of its keys (services, version)"
    assert "  AppSpecification (processing job)" in error.remedy
    assert error.details == ()
    (meant,) = unknown(AppSpecifcation={}, version="3").details
    assert meant.endswith("AppSpecifcation: did you mean AppSpecification?")


@pytest.mark.parametrize("data", [{}, {"Local": {}}, {"RoleArn": "x"}, {"rolearn": "x"}, {"TrainingJobNam": "x"}])
def test_a_document_with_a_key_of_a_training_job_has_the_mistakes_of_one(data: dict[str, Any]) -> None:
    refuse_unknown(Document(data, name="a.yaml", directory="/"))


def test_a_misspelt_key_of_a_job_of_replicas_is_named() -> None:
    with pytest.raises(RequestInvalidError) as error:
        refuse_unknown(Document({"trainingInputs": {}}, name="a.yaml", directory="/"))
    assert "did you mean trainingInput" in error.value.with_details

"""The table of job files: what a module must have that reads or plans a kind of jobs."""

from typing import Any

import pytest

from smlocal.ai_platform import job_preparation
from smlocal.ai_platform.jobfile import job_file as of_replicas
from smlocal.api import job_files
from smlocal.api.job_files import PLANNING, JobPlanner, JobReader, is_other_kind
from smlocal.sagemaker import prepare
from smlocal.sagemaker.hosting import model_file
from smlocal.sagemaker.hosting import planning as of_endpoints
from smlocal.sagemaker.jobfile import job_file
from smlocal.sagemaker.processing import job_file as processing_file
from smlocal.sagemaker.processing import planning as of_processing
from smlocal.sagemaker.transform import planning as of_transform
from smlocal.sagemaker.transform import transform_file
from smlocal.sagemaker.tuning import planning as of_tuning
from smlocal.sagemaker.tuning import tuning_file

READING: dict[str, JobReader] = {
    "AppSpecification": processing_file,
    "TransformInput": transform_file,
    "HyperParameterTuningJobConfig": tuning_file,
    "trainingInput": of_replicas,
}
"""Checked for types here, as the next: the tables import them by their names."""
PLANS: list[JobPlanner] = [prepare, of_processing, of_transform, of_tuning, of_endpoints, job_preparation]
FILES: list[Any] = [
    job_file.JobFile,
    processing_file.ProcessingFile,
    transform_file.TransformFile,
    tuning_file.TuningFile,
    model_file.ModelFile,
    of_replicas.ReplicaJobFile,
]


def test_each_kind_of_file_is_planned_by_a_module() -> None:
    assert [PLANNING[each.__module__] for each in FILES] == [each.__name__ for each in PLANS]  # type: ignore[attr-defined] # modules


@pytest.mark.parametrize("key", READING)
def test_a_key_tells_which_module_reads_a_document(key: str) -> None:
    assert is_other_kind({key: {}})
    assert job_files._reading({key: {}}) == READING[key].__name__  # type: ignore[attr-defined] # a module


def test_a_training_job_is_of_no_other_kind() -> None:
    assert not is_other_kind({"AlgorithmSpecification": {}, "OutputDataConfig": {}})

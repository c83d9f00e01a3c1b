"""Tuning jobs that clients make, as they are recorded."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.unit.sagemaker.tuning.test_tuning_file import CONFIG, DEFINITION, REQUEST

from smlocal.errors import InstanceLimitError, NameInUseError
from smlocal.jobfile.document import Document, recorded_document
from smlocal.jobs.documents import JOB
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.submission.scheduler import InstanceLimit, record_waiting
from smlocal.sagemaker.tuning.planning import waiting_job
from smlocal.sagemaker.tuning.trial_jobs import training_job
from smlocal.sagemaker.tuning.tuning_file import read_tuning


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "home")) as opened:
        yield opened


def two_definitions(**second: Any) -> Document:
    config = deepcopy(REQUEST[CONFIG])
    ranges = config.pop("ParameterRanges")
    objective = config.pop("HyperParameterTuningJobObjective")
    each = {**DEFINITION, "TuningObjective": objective, "HyperParameterRanges": ranges}
    definitions = [{**each, "DefinitionName": "one"}, {**each, "DefinitionName": "two", **second}]
    data = {"HyperParameterTuningJobName": "held", CONFIG: config, "TrainingJobDefinitions": definitions}
    return Document(data, name="request", directory="/")


def test_a_training_job_that_can_never_fit_is_refused_and_one_that_waits_is_not(store: Store) -> None:
    file = read_tuning(two_definitions(ResourceConfig={"InstanceType": "ml.m5.xlarge", "InstanceCount": 3}))
    waiting = waiting_job(file, "held")
    with pytest.raises(InstanceLimitError, match=r"'ml\.m5\.xlarge for training job usage' is 2 Instances"):
        record_waiting(
            waiting_job(file, "held"), name="held", store=store, limit=InstanceLimit(instances=2, refuse=True)
        )
    assert store.names() == []
    record = record_waiting(
        waiting_job(file, "held"), name="held", store=store, limit=InstanceLimit(instances=3, refuse=True)
    )
    assert (record.pending, record.instances) == (True, 0)
    with pytest.raises(NameInUseError):
        record_waiting(waiting, name="held", store=store, limit=None)


def test_each_definition_has_the_folders_that_a_server_chose_for_it(store: Store) -> None:
    document = two_definitions()
    document.local_of_parts = [{"Output": "/first", "Code": "/code"}, {"Output": "/second"}]
    document.data["Local"] = dict(document.local_of_parts[0])
    record_waiting(waiting_job(read_tuning(document), "held"), name="held", store=store, limit=None)
    again = recorded_document(store.document("held", JOB))

    def folders() -> list[tuple[str | None, str | None]]:
        jobs = [training_job(read_tuning(again), index, {"lr": "0.5"}) for index in (0, 1)]
        return [(job.local.Output, job.local.Code) for job in jobs]

    assert folders() == [("/first", "/code"), ("/second", None)]
    again.set(("Local", "Output"), "/asked")
    assert folders() == [("/asked", "/code"), ("/asked", None)]
    record_waiting(waiting_job(read_tuning(again), "again"), name="again", store=store, limit=None)  # with the flag
    again = recorded_document(store.document("again", JOB))
    assert folders() == [("/asked", "/code"), ("/asked", None)]

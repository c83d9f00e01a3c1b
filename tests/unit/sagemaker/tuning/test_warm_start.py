"""Parents of a warm start: what they have found, and which cannot be used."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST

from smlocal.errors.of_jobs import WarmStartError
from smlocal.jobfile.document import Document
from smlocal.jobs.documents import REQUEST as REQUEST_DOCUMENT
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.trials import Trial, document_kind
from smlocal.sagemaker.tuning.tuning_file import TuningFile, read_tuning
from smlocal.sagemaker.tuning.warm_start import earlier_of, with_earlier
from smlocal.terms.statuses import JobPhase, JobStatus, PhaseMessage


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "home")) as opened:
        yield opened


def parent(store: Store, name: str, request: dict[str, Any] | None = None, *, ended: bool = True) -> None:
    """A tuning job with one good and one failed training job."""
    trials = [
        Trial(number=1, name="a", tuned={"lr": "0.5"}, status="Completed", value=0.25),
        Trial(number=2, name="b", tuned={"lr": "0.7"}, status="Failed"),
    ]
    store.add_pending(
        name,
        run_id="0",
        created=1.0,
        documents={
            REQUEST_DOCUMENT: request or REQUEST,
            facts.TUNING: {"Count": 2},
            **{document_kind(each.number): each.document() for each in trials},
        },
        arn="",
        model_uri="",
        instances=0,
        platform=facts.NAME,
    )
    if ended:
        store.transition(
            name, status=JobStatus.COMPLETED, phase=JobPhase.COMPLETED, message=PhaseMessage.COMPLETED, at=2.0
        )


def child(*parents: str, **changes: Any) -> TuningFile:
    start = {
        "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": name} for name in parents],
        "WarmStartType": "TransferLearning",
    }
    data = {**deepcopy(REQUEST), "WarmStartConfig": start, **changes}
    return read_tuning(Document(data, name="tuning.yaml", directory="/here"))


def test_results_of_parents_are_points_with_values(store: Store) -> None:
    parent(store, "first")
    file = child("first")
    earlier = earlier_of(file, store)
    assert earlier == [[[{"lr": "0.5"}, 0.25, False]]]
    (definition,) = with_earlier(file, earlier)
    assert (definition.earlier, definition.taken) == ((({"lr": "0.5"}, 0.25),), ())


def test_points_are_taken_if_a_training_job_of_them_would_be_the_same_again(store: Store) -> None:
    parent(store, "same")
    parent(store, "longer", other(StaticHyperParameters={"epochs": "81"}))
    for name, taken in (("same", ({"lr": "0.5"},)), ("longer", ())):
        file = child(name)
        file.raw["WarmStartConfig"]["WarmStartType"] = "IdenticalDataAndAlgorithm"
        (definition,) = with_earlier(file, earlier_of(file, store))
        assert (definition.earlier, definition.taken) == ((({"lr": "0.5"}, 0.25),), taken)
    (stored_before,) = with_earlier(child("same"), [[[{"lr": "0.5"}, 0.25]]])
    assert stored_before.taken == ({"lr": "0.5"},)


def other(**definition: Any) -> dict[str, Any]:
    return {**deepcopy(REQUEST), "TrainingJobDefinition": {**REQUEST["TrainingJobDefinition"], **definition}}


def with_metric(name: str) -> dict[str, Any]:
    request = deepcopy(REQUEST)
    request["HyperParameterTuningJobConfig"]["HyperParameterTuningJobObjective"]["MetricName"] = name
    return request


def with_type(name: str) -> dict[str, Any]:
    request = deepcopy(REQUEST)
    request["HyperParameterTuningJobConfig"]["HyperParameterTuningJobObjective"]["Type"] = name
    return request


def with_integer() -> dict[str, Any]:
    request = deepcopy(REQUEST)
    ranges = {"IntegerParameterRanges": [{"Name": "lr", "MinValue": "1", "MaxValue": "9"}]}
    request["HyperParameterTuningJobConfig"]["ParameterRanges"] = ranges
    return request


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (with_metric("accuracy"), "the objective metric of 'first' is accuracy"),
        (with_type("Maximize"), "the objective of 'first' is to maximize loss, and not to minimize it"),
        (
            other(StaticHyperParameters={"epochs": "27", "more": "1"}),
            "The set of tunable plus static HyperParameter names",
        ),
        (with_integer(), "lr is continuous here and integer in 'first'"),
    ],
)
def test_parents_that_differ_too_much(store: Store, request_: dict[str, Any], text: str) -> None:
    parent(store, "first", request_)
    with pytest.raises(WarmStartError) as raised:
        earlier_of(child("first"), store)
    assert raised.value.sentence.startswith(text)


def test_the_same_algorithm_is_one_image(store: Store) -> None:
    specification = {**REQUEST["TrainingJobDefinition"]["AlgorithmSpecification"], "TrainingImage": "another"}
    parent(store, "first", other(AlgorithmSpecification=specification))
    file = child("first")
    assert earlier_of(file, store) == [[[{"lr": "0.5"}, 0.25, False]]]
    file.raw["WarmStartConfig"]["WarmStartType"] = "IdenticalDataAndAlgorithm"
    with pytest.raises(WarmStartError) as raised:
        earlier_of(file, store)
    assert raised.value.sentence == "TrainingImage is image, and that of 'first' is another"


def test_a_parent_that_is_gone_or_has_not_ended(store: Store) -> None:
    with pytest.raises(WarmStartError, match="there is no tuning job 'gone'"):
        earlier_of(child("gone"), store)
    parent(store, "running", ended=False)
    with pytest.raises(WarmStartError, match="has not ended"):
        earlier_of(child("running"), store)

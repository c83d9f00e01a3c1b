"""What the report draws of a tuning job."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST

from smlocal.jobs.documents import REQUEST as REQUEST_DOCUMENT
from smlocal.jobs.store.jobs import Store
from smlocal.report.rare_charts import TuningCharts, tuning_charts
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.trials import Trial, document_kind


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "home")) as opened:
        yield opened


def drawn(store: Store, *trials: Trial, answer: Mapping[str, Any] = REQUEST) -> TuningCharts:
    store.add_pending(
        "drawn",
        run_id="0",
        created=1.0,
        documents={
            REQUEST_DOCUMENT: REQUEST,
            facts.TUNING: {"Count": len(trials)},
            **{document_kind(each.number): each.document() for each in trials},
        },
        arn="",
        model_uri="",
        instances=0,
        platform=facts.NAME,
    )
    return tuning_charts(store, "drawn", answer, 1.0)


def ended(number: int, value: float | None, **tuned: str) -> Trial:
    status = "Failed" if value is None else "Completed"
    return Trial(
        number=number, name=f"t-{number}", tuned=tuned, status=status, value=value, started=1.0, ended=1.0 + number
    )


def test_the_objective_of_the_only_definition(store: Store) -> None:
    definition = {**REQUEST["TrainingJobDefinition"], "TuningObjective": {"Type": "Maximize", "MetricName": "acc"}}
    found = drawn(store, ended(1, 3.0, lr="0.1"), answer={**REQUEST, "TrainingJobDefinition": definition})
    assert found.charts[0].title == "Best acc"


def test_the_best_so_far_the_hyperparameters_and_a_table(store: Store) -> None:
    found = drawn(store, ended(1, 3.0, lr="0.1", c="b"), ended(2, 1.0, lr="0.2", c="a"), ended(3, 2.0, lr="0.3", c="a"))
    assert [chart.title for chart in found.charts] == ["Best loss", "lr", "c"]
    best, points = found.charts[0].lines
    assert [y for _, y in best.points] == [3.0, 3.0, 1.0, 1.0, 1.0]
    assert [y for _, y in points.points] == [3.0, 1.0, 2.0]
    assert [axis.name for axis in found.axes] == ["lr", "c", "loss"]
    assert len(found.paths) == 3
    orders = {order.column: [row.name for row in order.rows] for order in found.orders}
    assert orders["loss"] == ["t-2", "t-3", "t-1"]
    assert orders["lr"] == orders["Training job"] == ["t-1", "t-2", "t-3"]


def test_training_jobs_without_a_value_are_in_the_table_alone(store: Store) -> None:
    found = drawn(store, ended(1, None, lr="0.1"), Trial(number=2, name="t-2", tuned={"lr": "0.2"}))
    assert found.charts == ()
    assert found.axes == ()
    assert [row.cells[:3] for row in found.orders[0].rows] == [("t-1", "Failed", ""), ("t-2", "InProgress", "")]


def test_before_the_first_training_job_nothing_is_drawn(store: Store) -> None:
    found = drawn(store)
    assert (found.charts, found.paths, found.orders[0].rows) == ((), (), ())


def test_training_jobs_of_several_definitions_have_a_column_of_their_names(store: Store) -> None:
    config = {name: each for name, each in REQUEST["HyperParameterTuningJobConfig"].items() if "Objective" not in name}
    definitions = [
        {"DefinitionName": name, "TuningObjective": {"Type": "Maximize", "MetricName": metric}}
        for name, metric in (("tree", "score"), ("net", "accuracy"))
    ]
    answer = {"HyperParameterTuningJobConfig": config, "TrainingJobDefinitions": definitions}
    tree, net = ended(1, 3.0, depth="4"), ended(2, 5.0, lr="0.1")
    net.definition = 1
    found = drawn(store, tree, net, answer=answer)
    assert found.columns == ("Training job", "Status", "objective", "Definition", "depth", "lr", "Trained")
    orders = {order.column: [row.cells[:5] for row in order.rows] for order in found.orders}
    assert orders["objective"] == [
        ("t-2", "Completed", "5", "net", ""),
        ("t-1", "Completed", "3", "tree", "4"),
    ]
    assert [cells[3] for cells in orders["Definition"]] == ["net", "tree"]

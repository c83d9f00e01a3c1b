"""What the page of a tuning job shows of its training jobs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST

from smlocal.jobs.documents import REQUEST as REQUEST_DOCUMENT
from smlocal.jobs.page_parts import Charts, PageParts, Parallel, Table
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.view import JobView
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.page_parts import page_parts
from smlocal.sagemaker.tuning.trials import Trial, document_kind

COUNTERS = {"Completed": 18, "InProgress": 1, "RetryableError": 0, "NonRetryableError": 1, "Stopped": 0}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "home")) as opened:
        yield opened


def drawn(store: Store, *trials: Trial, answer: Mapping[str, Any] = REQUEST) -> PageParts:
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
    known = {**answer, "TrainingJobStatusCounters": COUNTERS, "HyperParameterTuningJobArn": "arn", "Local": {}}
    return page_parts(store, cast("JobView", SimpleNamespace(answer=known, name="drawn", began=1.0)))


def blocks(found: PageParts) -> tuple[Charts, Parallel, Table]:
    (section,) = found.sections
    assert section.title == "Training jobs"
    charts, parallel, table = section.blocks
    assert isinstance(charts, Charts)
    assert isinstance(parallel, Parallel)
    assert isinstance(table, Table)
    return charts, parallel, table


def only_table(found: PageParts) -> Table:
    table = found.sections[0].blocks[-1]
    assert isinstance(table, Table)
    return table


def ended(number: int, value: float | None, *, status: str = "Completed", **tuned: str) -> Trial:
    return Trial(
        number=number,
        name=f"drawn-{number:03}-ab",
        tuned=tuned,
        status=status if value is not None else "Failed",
        value=value,
        started=1.0,
        ended=1.0 + number,
    )


def with_ranges(**ranges: Any) -> dict[str, Any]:
    config = {**REQUEST["HyperParameterTuningJobConfig"], "ParameterRanges": ranges}
    return {**REQUEST, "HyperParameterTuningJobConfig": config}


def orders(table: Table) -> dict[str, list[str]]:
    return {table.columns[column or 0]: [row[0].text[6:9] for row in rows] for column, rows in table.orders}


def test_the_objective_of_the_only_definition(store: Store) -> None:
    definition = {**REQUEST["TrainingJobDefinition"], "TuningObjective": {"Type": "Maximize", "MetricName": "acc"}}
    found = drawn(store, ended(1, 3.0, lr="0.1"), answer={**REQUEST, "TrainingJobDefinition": definition})
    assert blocks(found)[0].charts[0].title == "Best acc"


def test_the_best_so_far_the_hyperparameters_and_a_table(store: Store) -> None:
    found = drawn(store, ended(1, 3.0, lr="0.1", c="b"), ended(2, 1.0, lr="0.2", c="a"), ended(3, 2.0, lr="0.3", c="a"))
    charts, parallel, table = blocks(found)
    assert [chart.title for chart in charts.charts] == ["Best loss", "lr", "c"]
    points, best, curve = charts.charts[0].lines
    assert [y for _, y in curve.points] == [3.0, 3.0, 1.0, 1.0, 1.0]
    assert [y for _, y in points.points] == [3.0, 1.0, 2.0]
    assert (best.marked, list(best.points)) == (True, [(2.0, 1.0)])
    assert all(chart.lines[1].marked for chart in charts.charts)
    assert all((chart.y_name, bool(chart.x_name)) == ("loss", True) for chart in charts.charts[1:])
    assert [axis[0].partition(" ")[0] for axis in parallel.axes] == ["lr", "c", "loss"]
    assert len(parallel.paths) == 3
    assert parallel.paths[-1][-1] == 0.0  # that of the best
    assert next(iter(orders(table))) == "loss"
    assert orders(table)["loss"] == ["002", "003", "001"]
    assert orders(table)["lr"] == orders(table)["Training job"] == ["001", "002", "003"]
    assert [cell.job for cell in table.rows[0]] == ["drawn-001-ab", *[""] * 5]


@pytest.mark.parametrize(
    ("scaling", "ends", "values", "places", "name"),
    [
        ("Logarithmic", ("0.0001", "1"), ("0.0001", "0.01", "1"), [0.0, 0.5, 1.0], "x (logarithmic)"),
        ("Linear", ("0.0001", "1.0001"), ("0.5001", "1.0001"), [0.5, 1.0], "x"),
        ("ReverseLogarithmic", ("0", "0.9999"), ("0.99", "0.9999"), [0.5, 1.0], "x (reverse logarithmic)"),
        ("Auto", ("0.0001", "1"), ("0.01",), [0.5], "x (logarithmic)"),
        ("Auto", ("0.1", "1"), ("0.55",), [0.5], "x"),
    ],
)
def test_an_axis_is_the_range_by_its_scale(
    store: Store, scaling: str, ends: tuple[str, str], values: tuple[str, ...], places: list[float], name: str
) -> None:
    given = {"Name": "x", "MinValue": ends[0], "MaxValue": ends[1], "ScalingType": scaling}
    trials = [ended(number, float(number), x=value) for number, value in enumerate(values, start=1)]
    charts, parallel, _ = blocks(drawn(store, *trials, answer=with_ranges(ContinuousParameterRanges=[given])))
    assert [x for x, _ in charts.charts[1].lines[0].points] == pytest.approx(places)
    assert sorted(path[0] for path in parallel.paths) == pytest.approx(places)
    assert charts.charts[1].x_name == parallel.axes[0][0] == name


def test_numbers_have_four_digits_and_their_exact_value_is_there(store: Store) -> None:
    table = only_table(drawn(store, ended(1, 0.123456789, lr="0.00080429030", depth="1234567", opt="adam")))
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert (cells["loss"].text, cells["loss"].whole) == ("0.1235", "0.123456789")
    assert (cells["lr"].text, cells["lr"].whole) == ("0.0008043", "0.00080429030")
    assert (cells["depth"].text, cells["depth"].whole) == ("1234567", "")
    assert [table.columns[each] for each in sorted(table.numbers)] == ["loss", "lr", "depth", "Trained"]


def test_each_training_job_has_a_bar_in_the_timeline(store: Store) -> None:
    running = Trial(number=3, name="drawn-003-ab", created=2.0, started=2.5)
    found = drawn(store, ended(1, 0.5), ended(2, None), running, Trial(number=4, name="drawn-004-ab"))
    assert [(bar.name, bar.spans[0].text, bar.spans[0].good, bar.spans[0].ended) for bar in found.bars] == [
        ("001-ab", "Completed, 0.5", True, 2.0),
        ("002-ab", "Failed", False, 3.0),
        ("003-ab", "InProgress", True, None),
    ]
    assert found.more_bars == ""


def test_of_many_training_jobs_some_are_shown(store: Store) -> None:
    found = drawn(store, *(ended(number, float(number)) for number in range(1, 131)))
    assert (len(found.bars), found.more_bars) == (100, "30 more training jobs")
    table = only_table(found)
    assert (len(table.orders[0][1]), table.left_out) == (100, 30)


def test_training_jobs_that_failed_or_have_no_value_are_in_the_table_alone(store: Store) -> None:
    found = drawn(
        store,
        ended(1, 0.1, status="Failed", lr="0.1"),
        ended(2, None, lr="0.1"),
        Trial(number=3, name="drawn-003-ab", tuned={"lr": "0.2"}),
    )
    (table,) = found.sections[0].blocks
    assert isinstance(table, Table)
    assert [tuple(cell.text for cell in row[1:3]) for row in table.rows] == [
        ("Failed", "0.1"),
        ("Failed", ""),
        ("InProgress", ""),
    ]


def test_before_the_first_training_job_nothing_is_drawn(store: Store) -> None:
    found = drawn(store)
    assert (found.sections, found.bars) == ((), ())
    assert ("Training jobs", "18 completed, 1 running, 1 failed") in found.details


def test_training_jobs_of_several_definitions_have_a_column_of_their_names(store: Store) -> None:
    config = {
        name: each
        for name, each in REQUEST["HyperParameterTuningJobConfig"].items()
        if name not in {"HyperParameterTuningJobObjective", "ParameterRanges"}
    }
    ranges = ({"Name": "depth", "MinValue": "1", "MaxValue": "7"}, {"Name": "depth", "MinValue": "3", "MaxValue": "9"})
    definitions = [
        {
            "DefinitionName": name,
            "TuningObjective": {"Type": "Maximize", "MetricName": metric},
            "HyperParameterRanges": {"IntegerParameterRanges": [given]},
        }
        for name, metric, given in (("tree", "score", ranges[0]), ("net", "accuracy", ranges[1]))
    ]
    answer = {"HyperParameterTuningJobConfig": config, "TrainingJobDefinitions": definitions}
    tree, net = ended(1, 3.0, depth="4"), ended(2, 5.0, lr="0.1")
    net.definition = 1
    charts, _, table = blocks(drawn(store, tree, net, answer=answer))
    assert charts.charts[1].x_labels == ("1", "9")
    assert table.columns == ("Training job", "Status", "objective", "Definition", "depth", "lr", "Trained")
    shown = {column: [tuple(cell.text for cell in row[2:5]) for row in rows] for column, rows in table.orders}
    assert shown[2] == [("5", "net", ""), ("3", "tree", "4")]
    assert shown[3] == [("5", "net", ""), ("3", "tree", "4")]


@pytest.mark.parametrize(
    ("first", "second", "values", "ends"),
    [
        (("Continuous", "0.01", "1", "Logarithmic"), ("Continuous", "0", "9", "Auto"), ("0.5", "0"), ("0", "0.5")),
        (
            ("Continuous", "0.1", "0.9", "ReverseLogarithmic"),
            ("Continuous", "0", "9", "Auto"),
            ("0.5", "5"),
            ("0.5", "5"),
        ),
        (("Continuous", "0", "9", "Auto"), ("Categorical", "few", "many", ""), ("5", "few"), ("5", "few")),
    ],
)
def test_definitions_whose_ranges_of_a_name_have_no_scale_in_common(
    store: Store, first: tuple[str, ...], second: tuple[str, ...], values: tuple[str, str], ends: tuple[str, str]
) -> None:
    config = {**REQUEST["HyperParameterTuningJobConfig"], "ParameterRanges": {}}
    definitions = [
        {
            "DefinitionName": kind,
            "HyperParameterRanges": {
                f"{kind}ParameterRanges": [
                    {"Name": "lr", "Values": [low, high]}
                    if kind == "Categorical"
                    else {"Name": "lr", "MinValue": low, "MaxValue": high, "ScalingType": scale}
                ]
            },
        }
        for kind, low, high, scale in (first, second)
    ]
    answer = {"HyperParameterTuningJobConfig": config, "TrainingJobDefinitions": definitions}
    tried = [ended(number, 1.0, lr=value) for number, value in enumerate(values, start=1)]
    charts, _, _ = blocks(drawn(store, *tried, answer=answer))
    assert charts.charts[1].x_labels == ends

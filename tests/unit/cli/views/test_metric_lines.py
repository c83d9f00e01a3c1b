from typing import Any

import pytest

from smlocal.cli.views.figures import metric_lines
from smlocal.cli.views.summary import summary
from smlocal.sagemaker.training.showing import view_of


def answer(*metrics: tuple[str, float, list[float]], notes: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "TrainingJobName": "tree",
        "TrainingJobStatus": "Completed",
        "SecondaryStatus": "Completed",
        "CreationTime": 1.0,
        "LastModifiedTime": 5.6,
        "FinalMetricDataList": [{"MetricName": name, "Value": value} for name, value, _ in metrics],
        "Local": {
            "Hints": [],
            "Artifacts": {"Model": None, "Output": None, "Notes": []},
            "Leftovers": [],
            "Notes": [],
            "Metrics": {
                "Summaries": [{"MetricName": name, "Course": course} for name, _, course in metrics],
                "Notes": list(notes),
            },
        },
    }


def test_short_names_stand_where_the_names_of_rows_do() -> None:
    described = answer(("loss", 0.127, [5.0, 4.0, 3.0, 2.0, 1.0]), ("rate", 1e-06, [1e-06]))
    lines = summary(view_of(described)).splitlines()
    without_model = "! model     none: nothing was left in /opt/ml/model"
    assert lines[:-1] == ["Completed in 4.6 s", without_model, "  loss      0.127  █▇▅▃▁", "  rate      1e-06"]


def test_long_names_have_a_column_of_their_own() -> None:
    rows = list(metric_lines(answer(("validation:auc", 0.5, []), ("loss", 12.25, []))))
    assert rows == [("metrics", "validation:auc    0.5"), ("", "loss            12.25")]


@pytest.mark.parametrize(("count", "more"), [(8, 0), (11, 3)])
def test_of_many_metrics_the_rest_is_a_word(count: int, more: int) -> None:
    rows = list(metric_lines(answer(*((f"m{number}", 1.0, []) for number in range(count)))))
    assert len(rows) == 8 + (more > 0)
    if more:
        assert rows[-1] == ("", f"and {more} more: smlocal metrics tree")


def test_what_could_not_be_found_out_is_told() -> None:
    assert list(metric_lines(answer(notes=("the metric loss was switched off",)))) == [
        ("note", "the metric loss was switched off")
    ]

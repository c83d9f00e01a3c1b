from pathlib import Path

import numpy as np
import pytest
from tests.kit.tensor_files import save, save_collections

from smlocal.report.tensor_charts import TensorCharts, tensor_charts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_collections(tmp_path, losses=["loss", "each"], weights=["weight"], metrics=["auc"])
    return tmp_path


def test_a_folder_without_tensors_has_no_charts(tmp_path: Path) -> None:
    assert tensor_charts(str(tmp_path / "none")) == TensorCharts()


def test_losses_metrics_and_scalars_are_drawn_by_mode(folder: Path) -> None:
    for step in range(0, 20, 2):
        save(folder, step, {"loss": np.float32(20 - step), "weight": np.float32(1), "each": np.zeros(3)})
        save(folder, step + 1, {"loss": [40.0 - step], "auc": 0.5, "scalar/rate": 0.1}, mode="EVAL")
    found = tensor_charts(str(folder))
    assert found.notes == ()
    assert [chart.title for chart in found.charts] == ["auc", "loss", "scalar/rate"]
    loss = found.charts[1]
    assert [(line.label, line.value, line.points[0], line.points[-1]) for line in loss.lines] == [
        ("eval", "22", (1, 40), (19, 22)),
        ("train", "2", (0, 20), (18, 2)),
    ]
    assert (loss.value, loss.detail, loss.x_labels) == ("22", "20 values, 2 to 40", ("step 0", "step 19"))


def test_values_that_are_not_finite_are_left_out_of_the_line(folder: Path) -> None:
    for step, value in enumerate((1.0, np.inf, 2.0, np.nan)):
        save(folder, step, {"loss": np.float32(value)})
    (chart,) = tensor_charts(str(folder)).charts
    assert (chart.value, chart.detail) == ("nan", "4 values, 1 to 2, 2 not finite")
    assert chart.lines[0].points == [(0, 1), (2, 2)]


def test_a_loss_that_was_never_finite(folder: Path) -> None:
    save(folder, 5, {"loss": np.float32("nan")})
    (chart,) = tensor_charts(str(folder)).charts
    assert (chart.value, chart.detail) == ("nan", "1 value, 1 not finite")


def test_workers_have_lines_of_their_own(folder: Path) -> None:
    for worker in ("worker_0", "worker_1"):
        save(folder, 0, {"loss": np.float32(1)}, worker=worker, mode="GLOBAL")
    (chart,) = tensor_charts(str(folder)).charts
    assert [line.label for line in chart.lines] == ["global worker_0", "global worker_1"]


def test_many_curves_and_damaged_files_are_told(folder: Path) -> None:
    save(folder, 0, {f"scalar/{number:03}": np.float32(1) for number in range(30)})
    save(folder, 1, {"loss": np.float32(1)})
    index = folder / "index" / "000000000" / "000000000001_worker_0.json"
    index.write_text("garbage")
    found = tensor_charts(str(folder))
    assert len(found.charts) == 24
    assert found.notes == ("6 more curves are left out.", "1 file of tensors cannot be read.")

"""Tuned hyperparameters that the files of the job do not name, and lines of a log that a regex does not fit."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.sagemaker.conftest import FACTS, changed, job, planned
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST

from smlocal.jobfile.document import Document
from smlocal.sagemaker.tuning.program_files import unread
from smlocal.sagemaker.tuning.trial_jobs import fitting_regex, why_no_value
from smlocal.sagemaker.tuning.tuning_file import TuningFile, read_tuning
from smlocal.terms.rights import Rights

READS = 'h = json.load(open("/opt/ml/input/config/hyperparameters.json"))\nepochs = h["epochs"]\n'
ASKS = 'parser.add_argument("--learning-rate", type=float)\n'
NO_FILE = "the tuned hyperparameter learning_rat is in no file of the job (train.py)"


def file(folder: Path, tuned: str, statics: Mapping[str, str]) -> TuningFile:
    config = REQUEST["HyperParameterTuningJobConfig"]
    ranges = {"ContinuousParameterRanges": [{"Name": tuned, "MinValue": "0.1", "MaxValue": "1"}]}
    request = {
        **REQUEST,
        "HyperParameterTuningJobConfig": {**config, "ParameterRanges": ranges},
        "TrainingJobDefinition": {**REQUEST["TrainingJobDefinition"], "StaticHyperParameters": dict(statics)},
    }
    return read_tuning(Document(request, name="tuning.yaml", directory=str(folder)))


def said(folder: Path, tuned: str, statics: Mapping[str, str] = {}, **more: Any) -> list[str]:
    plan = planned(job(more, {}), FACTS)
    return list(unread(file(folder, tuned, statics), [plan]))


@pytest.mark.parametrize(
    ("program", "tuned", "statics", "text"),
    [
        (READS + 'lr = h["learning_rate"]', "learning_rat", {"epochs": "1"}, f"{NO_FILE}; did you mean learning_rate?"),
        (
            READS,
            "momentum",
            {"epochs": "1"},
            "momentum is in no file of the job (train.py): its values may have no eff",
        ),
        (ASKS, "learning_rat", {}, f"{NO_FILE}; did you mean learning-rate?"),
        ("", "learning_rat", {"learning_rate": "1"}, "learning_rat is almost the static learning_rate: is one of them"),
    ],
)
def test_a_name_that_nothing_has(tmp_path: Path, program: str, tuned: str, statics: dict[str, str], text: str) -> None:
    (tmp_path / "train.py").write_text(program)
    (found,) = said(tmp_path, tuned, statics)
    assert text in found


@pytest.mark.parametrize(
    ("program", "tuned", "statics"),
    [
        (ASKS, "learning_rate", {}),
        ('lr = os.environ["SM_HP_LEARNING_RATE"]', "learning_rate", {}),
        ("model = Booster(**json.load(hyperparameters))", "max_depth", {}),  # it names none
        ("for name, value in hyperparameters.items(): print(name)", "eta", {}),
        ("print(1)", "eta", {"epochs": "1"}),
        ("", "max_depth", {"min_depth": "1"}),
    ],
)
def test_a_name_that_is_there_or_a_program_that_names_none(
    tmp_path: Path, program: str, tuned: str, statics: dict[str, str]
) -> None:
    (tmp_path / "train.py").write_text(program)
    assert said(tmp_path, tuned, statics) == []


def test_the_name_may_be_in_any_file_or_in_a_variable(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(READS)
    statics = {"epochs": "1"}
    assert said(tmp_path, "lr", statics, Environment={"SCRIPT": "use lr"}) == []
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "x.py").write_text("lr")
    (tmp_path / "notes.txt").write_text("lr")
    assert len(said(tmp_path, "lr", statics)) == 1
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "model.py").write_text("def train(lr): ...")
    assert said(tmp_path, "lr", statics) == []


def test_the_folder_of_a_limited_job_is_not_read_but_its_code_is(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "train.py").write_text(READS)
    (tmp_path / "a" / "train.py").write_text(READS)
    assert FACTS.inputs.listings["train"].root
    code = replace(FACTS.inputs.listings["train"], root=str(tmp_path / "a"), paths=("train.py",))
    asked = file(tmp_path, "lr", {"epochs": "1"})
    limited = replace(planned(job({}, {}), FACTS), rights=Rights(folders=()))
    assert list(unread(asked, [limited])) == []
    with_code = replace(planned(job({}, {}), changed(FACTS, listings={"train": code})), rights=Rights(folders=()))
    assert len(list(unread(asked, [with_code]))) == 1


@pytest.mark.parametrize(
    ("metric", "line", "regex", "value"),
    [
        ("loss", "epoch 1 loss: 0.25", "loss: ([0-9.eE+-]+)", "0.25"),
        ("validation:loss", "train loss=0.1 val loss=2e-3", "val loss=([0-9.eE+-]+)", "2e-3"),
        ("validation:accuracy", '{"step": 3, "accuracy": 95}', 'accuracy": ([0-9.eE+-]+)', "95"),
        ("val_loss", "[1] (val_loss) -.5", r"val_loss\) ([0-9.eE+-]+)", "-.5"),
        ("rmse", "RMSE is 3.5%", "RMSE is ([0-9.eE+-]+)", "3.5"),
        ("test:f1", "f1 = 0.5", "f1 = ([0-9.eE+-]+)", "0.5"),
    ],
)
def test_a_regex_that_fits_a_line(metric: str, line: str, regex: str, value: str) -> None:
    assert fitting_regex(line, metric) == regex
    found = re.search(regex, line)
    assert found is not None
    assert found[1] == value


@pytest.mark.parametrize("line", ["loss=nan", "loss", "lost 3", "loss of the whole epoch, which was number 7"])
def test_a_line_without_a_number_behind_the_word(line: str) -> None:
    assert fitting_regex(line, "loss") is None


def test_only_the_beginning_of_a_long_line_is_searched() -> None:
    said = why_no_value(f"{'x' * 1000} loss=0.5\n", "loss", "none")
    assert "would, in" not in said
    assert "came close" in said


@pytest.mark.parametrize(
    ("log", "text"),
    [
        ("a\nloss: 2\nend", "its regex loss=(.*) finds no number; loss: ([0-9.eE+-]+) would, in: loss: 2"),
        ("loss=nan\nend", "its regex loss=(.*) finds no number; these lines came close: loss=nan"),
        ("end", "its regex loss=(.*) finds no number"),
    ],
)
def test_why_there_is_no_value(log: str, text: str) -> None:
    assert why_no_value(log, "loss", "loss=(.*)") == text

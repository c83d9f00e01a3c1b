"""`smlocal metrics` on values that are there."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run

from smlocal.jobs.metrics.found_values import ValuesFile, write_state
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED


@pytest.fixture
def measured(tmp_path: Path) -> Callable[..., None]:
    """Remembers a finished job whose hosts had these values: definition, host, time, value."""

    def make(
        *values: tuple[int, int, float | None, float], names: tuple[str, ...], state: dict[str, Any] | None = None
    ) -> None:
        definitions = [{"Name": name, "Regex": f"{name}=(.*)"} for name in names]
        documents = {
            "request": {"AlgorithmSpecification": {"MetricDefinitions": definitions}},
        }
        with Store.open(str(tmp_path)) as store:
            store.create(
                "job", run_id="0" * 8, created=1.0, documents=documents, supervisor_pid=None, instances=2
            ).release()
            end = COMPLETED
            store.transition("job", status=end.status, phase=end.phase, message=end.message, at=2.0)
            directory = store.directory("job")
        if values:
            with closing(ValuesFile(directory)) as file:
                for value in values:
                    file.add(*value)
            write_state(directory, state or {})

    return make


VALUES: tuple[tuple[int, int, float | None, float], ...] = (
    (0, 0, 100.0, 0.5),
    (0, 1, 101.25, 0.25),
    (1, 0, None, -0.001),
    (0, 0, 101.0, 0.125),
    (0, 0, 100.5, 1.0),
)


def test_people_see_a_table(measured: Callable[..., None], smlocal: Run) -> None:
    measured(*VALUES, names=("loss", "validation:acc", "none"), state={"SlowLines": {"2": ["aaaa"]}})
    done = smlocal("metrics", "job")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split() for line in done.stdout.splitlines()[:4]] == [
        ["METRIC", "LAST", "MIN", "MAX", "COUNT"],
        ["loss", "0.25", "0.125", "1", "4", "▄▂▁█"],
        ["validation:acc", "-0.001", "-0.001", "-0.001", "1"],
        ["none", "none", "0"],
    ]
    assert done.stdout.splitlines()[4:] == [
        "Note   1 line was skipped for the metric none: its regex took more than 100 ms, such as 'aaaa'"
    ]


def test_programs_get_every_value(measured: Callable[..., None], smlocal: Run) -> None:
    measured(*VALUES, names=("loss", "acc"))
    document = json.loads(smlocal("metrics", "job", "--json").stdout)
    assert document["TrainingJobName"] == "job"
    assert document["Metrics"] == [
        {
            "MetricName": "loss",
            "Count": 4,
            "Last": {"Value": 0.25, "Timestamp": 101.25, "Host": "algo-2"},
            "Minimum": 0.125,
            "Maximum": 1.0,
        },
        {
            "MetricName": "acc",
            "Count": 1,
            "Last": {"Value": -0.0010000000474974513, "Timestamp": None, "Host": "algo-1"},
            "Minimum": -0.0010000000474974513,
            "Maximum": -0.0010000000474974513,
        },
    ]
    assert document["Notes"] == []
    assert document["Values"][1:3] == [
        {"MetricName": "loss", "Value": 0.25, "Timestamp": 101.25, "Host": "algo-2"},
        {"MetricName": "acc", "Value": -0.0010000000474974513, "Timestamp": None, "Host": "algo-1"},
    ]
    assert len(document["Values"]) == 5


def test_spreadsheets_get_every_value(measured: Callable[..., None], smlocal: Run) -> None:
    measured(*VALUES[:3], names=('lo"ss, total', "acc"))
    assert smlocal("metrics", "job", "--csv").stdout.splitlines() == [
        "metric,value,timestamp,host",
        '"lo""ss, total",0.5,100.0,algo-1',
        '"lo""ss, total",0.25,101.25,algo-2',
        "acc,-0.0010000000474974513,,algo-1",
    ]


@pytest.mark.parametrize("names", [(), ("loss",)], ids=["without definitions", "without values"])
def test_a_job_without_values_is_no_error(measured: Callable[..., None], smlocal: Run, names: tuple[str, ...]) -> None:
    measured(names=names)
    done = smlocal("metrics", "job")
    assert done.returncode == 0
    assert ("has no MetricDefinitions" in done.stderr) == (not names)
    assert json.loads(smlocal("metrics", "job", "--json").stdout)["Values"] == []
    assert smlocal("metrics", "job", "--csv").stdout == "metric,value,timestamp,host\n"


def test_wrong_uses_are_refused(smlocal: Run, remember: Callable[..., None]) -> None:
    remember("any")
    assert smlocal("metrics", "unheard-of").returncode == 2
    done = smlocal("metrics", "any", "--json", "--csv")
    assert done.returncode == 2
    assert "cannot be used together" in done.stderr + done.stdout


@pytest.mark.slow(0.5)
def test_many_values_come_all(measured: Callable[..., None], tmp_path: Path, smlocal: Run) -> None:
    measured((0, 0, 1.0, 1.0), names=("loss",))
    path = tmp_path / "jobs" / "job" / "metrics" / "values"
    path.write_bytes(path.read_bytes() * 200_000)
    done = smlocal("metrics", "job", "--csv")
    assert done.stdout.count("\n") == 200_001

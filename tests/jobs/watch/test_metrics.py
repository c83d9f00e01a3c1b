"""Metrics of real jobs: lines of their containers become values, whatever supervises, whatever else they print."""

import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from tests.kit import Run, until
from tests.kit.fixtures import touch_inside

Write = Callable[..., Path]
BOMB = {"Name": "bomb", "Regex": r"(a+)+$"}
LOSS = {"Name": "loss", "Regex": r"loss=([0-9.eE+-]+)"}
COUNTS = "i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo loss=$i; sleep 0.05; done"
HELD = COUNTS.replace("sleep", "[ $i != 10 ] || until [ -e /opt/ml/output/go ]; do sleep 0.05; done; sleep")
"""Half-way it waits for a file."""


@pytest.fixture
def write(tmp_path: Path, image: Callable[[str], str]) -> Write:
    """Writes a job that runs a script and has these definitions."""

    def make(name: str, script: str, *definitions: Mapping[str, str], hosts: int = 1, **environment: str) -> Path:
        request = {
            "TrainingJobName": name,
            "AlgorithmSpecification": {
                "TrainingImage": image("sh"),
                "TrainingInputMode": "File",
                "MetricDefinitions": list(definitions),
            },
            "Environment": {"SCRIPT": script, **environment},  # each of which has a length
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts},
        }
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(request))
        return path

    return make


def final(answer: Mapping[str, Any]) -> dict[str, float]:
    return {each["MetricName"]: each["Value"] for each in answer.get("FinalMetricDataList", ())}


def test_a_metric_has_the_name_of_its_definition(write: Write, smlocal_run: Run) -> None:
    path = write("metrics-name", "echo loss=0.5", LOSS)
    answer = json.loads(smlocal_run("run", path, "--json", cwd=path.parent).stdout)
    assert list(final(answer)) == ["loss"]


def test_a_metric_has_the_last_value_that_its_regex_found(write: Write, smlocal_run: Run) -> None:
    path = write("metrics-regex", "echo loss=0.5; echo loss=0.03457", LOSS)
    answer = json.loads(smlocal_run("run", path, "--json", cwd=path.parent).stdout)
    assert list(final(answer).values()) == [0.03457000106573105]


@pytest.mark.slow(1)
def test_two_hosts_that_print_everything(write: Write, smlocal_run: Run) -> None:
    script = r"""
        printf 'loss=7'
        host=$(grep -o 'current_host":"algo-.' /opt/ml/input/config/resourceconfig.json | tail -c 2)
        eval "$MEET"
        printf '\n[9]\ttrain-mae:0.25\n\377\376 auc=-1.5e-3;\n'
        printf '\033[1mepoch\033[0m 10%%\r20%%\rf1=0.5\n' >&2
        eval "$MORE"
    """
    # The second comes later, however long its peer takes.
    meet = """
        [ "$host" = 1 ] || { until nc algo-1 4000 </dev/null 2>/dev/null; do sleep 0.1; done; sleep 1; }
    """
    more = r"""
        i=0; while [ $i -lt 5 ]; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!; i=$((i+1)); done
        echo cat=dog nan=nan host=$host
        head -c 3000000 /dev/zero | tr '\0' x; echo loss=9
        printf 'last=1'
        [ "$host" != 1 ] || nc -l -p 4000 </dev/null
    """
    definitions = [
        LOSS,
        BOMB,
        {"Name": "mae", "Regex": r".*\[[0-9]+\].*#011train-mae:([-+]?[0-9]*\.?[0-9]+)"},
        {"Name": "tab", "Regex": r"\ttrain-mae:(.*)"},
        {"Name": "auc", "Regex": r"auc=([^;]*)"},
        {"Name": "f1", "Regex": r"#015f1=(\S+)$"},
        {"Name": "cat", "Regex": r"cat=(\w+)"},
        {"Name": "nan", "Regex": r"nan=(\w+)"},
        {"Name": "host", "Regex": r"host=(\d)"},
        {"Name": "last", "Regex": r"^last=(\d)$"},
    ]
    path = write("metrics-two", script, *definitions, hosts=2, MORE=more, MEET=meet)
    done = smlocal_run("run", path, "--json", cwd=path.parent)
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed"
    assert final(answer) == {
        "loss": 7.0,
        "mae": 0.25,
        "auc": -0.001500000013038516,
        "f1": 0.5,
        "host": 2.0,
        "last": 1.0,
    }
    without, slow = answer["Local"]["Metrics"]["Notes"]
    assert without.startswith("no line had a value for the metrics tab, cat, nan; ")
    assert answer["Local"]["Metrics"]["WithoutValues"] == ["tab", "cat", "nan"]
    assert without in smlocal_run("describe", "metrics-two").stdout
    assert slow.startswith("the metric bomb was disabled")
    assert "metric-controls" in {each["Id"] for each in answer["Local"]["Notes"]}

    service = json.loads(smlocal_run("describe", "metrics-two", "--service").stdout)
    assert service["FinalMetricDataList"] == answer["FinalMetricDataList"]
    assert all(isinstance(each["Timestamp"], int) for each in service["FinalMetricDataList"])
    shape = ServiceModel(Loader().load_service_model("sagemaker", "service-2")).shape_for("FinalMetricDataList")
    assert not ParamValidator().validate(service["FinalMetricDataList"], shape).has_errors()

    document = json.loads(smlocal_run("metrics", "metrics-two", "--json").stdout)
    hosts = [each["Host"] for each in document["Values"] if each["MetricName"] == "loss"]
    assert sorted(hosts) == ["algo-1", "algo-2"]
    begun, ended = answer["TrainingStartTime"], answer["TrainingEndTime"]
    assert all(begun <= each["Timestamp"] <= ended for each in document["Values"])


@pytest.mark.slow(1)
def test_a_detached_job_shows_its_values_while_it_runs(write: Write, smlocal_run: Run, smlocal_home: Path) -> None:
    path = write("metrics-detached", HELD, LOSS)
    smlocal_run("run", "--detach", path, cwd=path.parent, check=True)
    until(lambda: "loss,10.0," in smlocal_run("metrics", "metrics-detached", "--csv").stdout)
    assert "FinalMetricDataList" not in smlocal_run("describe", "metrics-detached", "--service").stdout
    touch_inside(smlocal_home / "jobs" / "metrics-detached" / "hosts" / "algo-1" / "output" / "go")
    smlocal_run("wait", "metrics-detached", check=True)
    answer = json.loads(smlocal_run("describe", "metrics-detached", "--json").stdout)
    assert final(answer) == {"loss": 20.0}
    assert smlocal_run("metrics", "metrics-detached", "--csv").stdout.count("\n") == 21


@pytest.mark.slow(1)
def test_an_adopted_job_has_every_value_once(write: Write, smlocal_run: Run, smlocal_home: Path) -> None:
    path = write("metrics-adopted", HELD, LOSS)
    smlocal_run("run", "--detach", path, cwd=path.parent, check=True)
    until(lambda: "loss,10.0," in smlocal_run("metrics", "metrics-adopted", "--csv").stdout)
    described = json.loads(smlocal_run("describe", "metrics-adopted", "--json").stdout)
    os.kill(described["Local"]["SupervisorPid"], signal.SIGKILL)
    touch_inside(smlocal_home / "jobs" / "metrics-adopted" / "hosts" / "algo-1" / "output" / "go")
    smlocal_run("wait", "metrics-adopted", check=True)
    answer = json.loads(smlocal_run("describe", "metrics-adopted", "--json").stdout)
    assert final(answer) == {"loss": 20.0}
    assert answer["Local"]["Metrics"]["Notes"] == []
    values = json.loads(smlocal_run("metrics", "metrics-adopted", "--json").stdout)["Values"]
    assert [each["Value"] for each in values] == list(range(1, 21))
    times = [each["Timestamp"] for each in values]
    assert times == sorted(times)
    assert times[-1] - times[0] > 0.5
    stamped = smlocal_run("logs", "--timestamps", "metrics-adopted").stdout.splitlines()
    assert [line.partition("Z ")[2] for line in stamped] == [f"loss={number}" for number in range(1, 21)]


def test_a_regex_that_finds_nothing_makes_no_job(write: Write, smlocal_run: Run) -> None:
    path = write("metrics-refused", "echo", {"Name": "loss", "Regex": "loss=.*"}, {"Name": "acc", "Regex": "acc=("})
    done = smlocal_run("run", path, cwd=path.parent)
    assert done.returncode == 2
    assert "MetricDefinitions.1.member.Regex" in done.stderr
    assert "has no group" in done.stderr
    assert "not a valid regular expression" in done.stderr
    assert smlocal_run("describe", "metrics-refused").returncode == 2


def test_a_plan_tries_lines(write: Write, smlocal_run: Run) -> None:
    path = write("metrics-tried", "echo", LOSS, BOMB, {"Name": "tab", "Regex": r"x#011(\d)"})
    lines = ("--try-line", "loss=0.5 x\t7", "--try-line", "a" * 60 + "!")
    shown = smlocal_run("plan", path, *lines, cwd=path.parent).stdout
    assert "loss=0.5 x#0117" in shown
    document = json.loads(smlocal_run("plan", path, *lines, "--json", cwd=path.parent).stdout)
    first, second = document["TriedLines"]
    assert [each["Value"] for each in first["Metrics"]] == [0.5, None, 7.0]
    assert second["Metrics"][1]["Says"].startswith("stopped after 100 ms")
    path = write("metrics-untried", "echo")
    assert smlocal_run("plan", path, "--try-line", "x", cwd=path.parent).returncode == 2

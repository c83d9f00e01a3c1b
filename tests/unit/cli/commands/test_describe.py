"""`smlocal describe` for people, and figures that are the same wherever they stand."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.kit import Run

from smlocal.jobs.store.lease import Lease

LOCAL: dict[str, Any] = {
    "Hosts": [{"Name": "algo-1", "ExitCode": 17, "Log": "/logs/algo-1.log"}],
    "Attempts": 3,
    "Interruptions": 2,
    "Retries": 0,
    "Artifacts": {"Model": None, "Output": "/out/output.tar.gz", "Notes": ["a socket was left out: model/s"]},
    "Seconds": {"Training": 2.0},
    "Notes": [],
    "Hints": [],
    "Leftovers": [],
    "Explanation": None,
}


def rows(shown: str) -> dict[str, str]:
    return {line[:12].strip(): line[12:] for line in shown.splitlines() if not line.startswith(" ")}


def test_a_failed_job_names_no_model_that_is_not_there(remember: Callable[..., None], smlocal: Run) -> None:
    remember("bad", reason="AlgorithmError: one\ntwo, exit code: 17", local=LOCAL)
    shown = smlocal("describe", "bad").stdout
    found = rows(shown)
    assert found["Model"] == "none written"
    assert found["Output"] == "/out/output.tar.gz"
    assert found["Attempts"] == "3 (interruptions: 2)"
    assert found["Note"] == "a socket was left out: model/s"
    assert "Reason      AlgorithmError: one\n            two, exit code: 17\n" in shown
    assert not [line for line in shown.splitlines() if line != line.rstrip()]


def test_a_model_has_one_row(remember: Callable[..., None], smlocal: Run) -> None:
    there = {**LOCAL, "Attempts": 1, "Artifacts": {"Model": "/out/model.tar.gz", "Output": None, "Notes": []}}
    remember("good", local=there, uri="s3://bucket/good/output/model.tar.gz")
    shown = smlocal("describe", "good").stdout
    assert shown.count("model.tar.gz") == 2
    assert "Model       /out/model.tar.gz\n            for s3://bucket/good/output/model.tar.gz\n" in shown
    assert "Attempts" not in shown


def test_the_same_seconds_everywhere(remember: Callable[..., None], smlocal: Run) -> None:
    remember("timed", local=LOCAL)
    shown = smlocal("describe", "timed").stdout
    # From 2.6 s: whole seconds as the service counts, in both places.
    assert rows(shown)["Trained"] == "2 s"
    assert re.search(r"Completed .* 2 s  +", smlocal("jobs").stdout.splitlines()[1])
    # As the run itself measured and showed it.
    assert "  Training        2.0 s   " in shown


def test_service_alone_is_the_services_answer(remember: Callable[..., None], smlocal: Run) -> None:
    remember("done", local=LOCAL)
    alone = smlocal("describe", "done", "--service").stdout
    assert alone == smlocal("describe", "done", "--json", "--service").stdout
    assert "Local" not in json.loads(alone)


def test_a_running_job_names_its_supervisor_and_its_logs(
    remember: Callable[..., None], smlocal: Run, tmp_path: Path
) -> None:
    remember("going", ended=False)
    folder = tmp_path / "jobs" / "going"
    lease = Lease.take(str(folder))
    assert lease is not None
    with lease:
        found = rows(smlocal("describe", "going").stdout)
    assert found["Supervisor"] == f"process {os.getpid()}"
    assert found["Status"] == "InProgress (Training)"
    assert found["Model"] == "will be file:///out/model.tar.gz"
    assert found["algo-1"] == f"log {folder}/logs/algo-1.log"


def test_each_host_of_a_job_on_several_engines_names_its_engine(
    remember: Callable[..., None], smlocal: Run, tmp_path: Path
) -> None:
    plan: dict[str, Any] = {
        "engines": [{"address": "ssh://a"}, {"address": "ssh://b"}],
        "hosts": [{"host": {"name": f"algo-{index + 1}"}, "engine": f"ssh://{'ab'[index]}"} for index in range(2)],
    }
    hosts = [{"Name": each["host"]["name"], "ExitCode": None, "Log": "/logs/it"} for each in plan["hosts"]]
    remember("spread", local={**LOCAL, "Hosts": hosts}, instances=2, recall=plan)
    assert rows(smlocal("describe", "spread").stdout)["algo-2"] == "no exit code   on ssh://b   log /logs/it"
    remember("spreads", ended=False, instances=2, recall=plan)
    lease = Lease.take(str(folder := tmp_path / "jobs" / "spreads"))
    assert lease is not None
    with lease:
        assert rows(smlocal("describe", "spreads").stdout)["algo-1"] == f"on ssh://a   log {folder}/logs/algo-1.log"
        local = json.loads(smlocal("describe", "spreads", "--json").stdout)["Local"]
    assert local["Placement"] == {"algo-1": "ssh://a", "algo-2": "ssh://b"}

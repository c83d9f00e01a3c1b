"""Jobs in the background: begun, followed, waited for, and many at once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

COUNTS = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo line $i; sleep 0.02; done; echo $i >/opt/ml/model/count"
HELD = f"until [ -e /opt/ml/output/go ]; do sleep 0.02; done; {COUNTS}"
"""Waits for `life.let_go`."""
LINES = [f"line {number}" for number in range(1, 41)]
Clean = Callable[[str], None]


def test_a_detached_job_goes_on_by_itself(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("alone", HELD)
    assert not life.job("alone").status.terminal
    life.until_phase("alone", "Training")  # the folder of the host is there by then
    life.let_go("alone")
    done = life("wait", "alone")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert life.log("alone").splitlines() == LINES
    assert [path.rpartition("/")[2] for path in life.model("alone")] == ["count"]
    assert life.job("alone").status == "Completed"
    assert_nothing_left("alone")
    described = json.loads((life.home / "jobs" / "alone" / "describe.json").read_text())
    assert described == life.describe("alone")


@pytest.mark.slow(1)
def test_a_detached_job_warns_and_says_from_the_beginning_how_it_differs(life: Any) -> None:
    algorithm = {"MetricDefinitions": [{"Name": "word", "Regex": "([a-z]+)$"}]}
    path = life.job_file("warned", "until [ -e /opt/ml/output/go ]; do sleep 0.02; done")
    job = json.loads(path.read_text())
    job["AlgorithmSpecification"] |= algorithm
    path.write_text(json.dumps(job))
    done = life("run", "--detach", path)
    assert (done.returncode, done.stdout) == (0, "warned\n"), done.stderr
    warned = " ".join(done.stderr.split())
    assert "! metrics that never have a value" in warned
    life.until_phase("warned", "Training")
    notes = life.describe("warned")["Local"]["Notes"]
    shown = life("describe", "warned").stdout
    assert not life.job("warned").status.terminal
    assert {"metric-words", "metric-definitions"} <= {each["Id"] for each in notes}
    assert [each["Text"] for each in notes if each["Text"] in warned] == [n["Text"] for n in notes if n["Warning"]]
    assert "Differences from the service" in shown
    life.let_go("warned")
    assert life("wait", "warned").returncode == 0
    assert life.describe("warned")["Local"]["Notes"] == notes


def test_what_is_refused_is_refused_before_anything_is_left_behind(life: Any) -> None:
    done = life("run", "--detach", life.job_file("refused", "exit 0", StoppingCondition={"MaxRuntimeInSeconds": 0}))
    assert (done.returncode, done.stdout) == (2, "")
    assert life.store.count() == 0


@pytest.mark.slow(2)
def test_wait_tells_how_jobs_ended(life: Any) -> None:
    life.detach("good", "exit 0")
    life.detach("bad", "exit 3")
    life.detach("told-to-stop", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    life.until_logged("told-to-stop", "ready\n")
    assert life("wait", "told-to-stop", "--timeout", "0").returncode == 124
    assert life("wait", "good", "told-to-stop", "--timeout", "0.3").returncode == 124
    assert life("stop", "told-to-stop").returncode == 0
    assert life("wait", "good", "told-to-stop", "bad").returncode == 4
    assert life("wait", "good", "bad", "told-to-stop").returncode == 1
    assert life("wait", "good", "good").returncode == 0
    assert life("wait", "bad", "--timeout", "0").returncode == 1


def test_wait_refuses_what_it_cannot_wait_for(life: Any) -> None:
    life.detach("known", "exit 0")
    done = life("wait", "known", "unknown")
    assert done.returncode == 2
    assert "Requested resource not found." in done.stderr
    for wrong in (("--timeout=-1", "known"), ("--timeout=nan", "known")):
        assert life("wait", *wrong).returncode == 2
    assert life("wait", "known").returncode == 0


def test_logs_are_followed_from_the_start_to_the_end(life: Any) -> None:
    life.detach("followed", COUNTS)
    life.until_logged("followed", "line 10\n")
    done = life("logs", "--follow", "followed")
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (0, LINES, "")
    assert life.job("followed").status == "Completed"
    assert life("logs", "--follow", "followed").stdout == done.stdout


@pytest.mark.slow(1)
def test_logs_of_two_hosts_are_followed(life: Any) -> None:
    life.detach("followed-pair", COUNTS, hosts=2)
    done = life("logs", "-f", "followed-pair")
    for host in ("algo-1", "algo-2"):
        told = [line for line in done.stdout.splitlines() if line.startswith(f"{host} | ")]
        assert told == [f"{host} | {line}" for line in LINES]


def test_ten_jobs_side_by_side(life: Any, assert_nothing_left: Clean) -> None:
    names = [f"side-{number}" for number in range(10)]
    commands = [
        life.begin("run", "--detach", life.job_file(name, f"echo {name} >/opt/ml/model/{name}; echo {name}"))
        for name in names
    ]
    for name, command in zip(names, commands, strict=True):
        out, err = command.communicate(timeout=60)
        assert (command.returncode, out) == (0, f"{name}\n"), err
    assert life("wait", *names).returncode == 0
    for name in names:
        assert life.log(name) == f"{name}\n"
        assert [path.rpartition("/")[2] for path in life.model(name)] == [name]
        assert_nothing_left(name)


@pytest.mark.slow(2)
@pytest.mark.long
def test_two_of_one_name_at_the_same_instant(life: Any) -> None:
    for number in range(3):
        path = life.job_file(f"same-{number}", "sleep 0.2")
        for detach in ((), ("--detach",)):
            commands = [life.begin("run", path, *detach) for _ in range(3)]
            results = []
            for command in commands:
                _, err = command.communicate(timeout=60)
                results.append((command.returncode, err))
            assert sorted(code for code, _ in results) == [0, 2, 2], "\n".join(err for _, err in results)
            for code, err in results:
                assert ("ResourceInUse" in err) == (code == 2)
                assert "Traceback" not in err
            assert life("wait", f"same-{number}").returncode == 0
            assert life("rm", f"same-{number}").returncode == 0


@pytest.mark.slow(3)
@pytest.mark.long
def test_who_sees_a_terminal_state_finds_nothing_left(
    life: Any, assert_nothing_left: Clean, docker: Callable[..., str]
) -> None:
    script = "echo 1 >/opt/ml/model/weights; test $(($(date +%N | sed 's/^0*//') % 2)) = 0"
    for number in range(5):
        name = f"seen-{number}"
        life.detach(name, script, hosts=1 + number % 2)
        seen = False
        while not seen:
            seen = life.job(name).status.terminal
        listed = docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={name}")
        assert listed == ""
        assert (life.folder / "out" / name / "output" / "model.tar.gz").exists()
        assert not (life.home / "jobs" / name / "hosts").exists()
        assert not (life.home / "jobs" / name / "staged").exists()
        assert_nothing_left(name)


def test_a_detached_job_outlives_its_session(life: Any, assert_nothing_left: Clean) -> None:
    path = life.job_file("survivor", HELD)
    session = subprocess.Popen(
        ["sh", "-c", f"{sys.executable} -m smlocal run --detach {path}; echo begun; sleep 600"],
        cwd=life.folder,
        env=life.environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with session:
        assert session.stdout is not None
        assert [session.stdout.readline() for _ in range(2)] == ["survivor\n", "begun\n"]
        pid = life.job("survivor").supervisor_pid
        assert os.getsid(pid) != session.pid
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            os.killpg(session.pid, number)
    life.until_phase("survivor", "Training")
    life.let_go("survivor")
    assert life("wait", "survivor").returncode == 0
    assert life.phases("survivor") == ["Starting", "Downloading", "Training", "Uploading", "Completed"]
    assert life.log("survivor").splitlines() == LINES
    assert_nothing_left("survivor")


@pytest.mark.slow(2)
def test_a_detached_job_holds_nothing_of_the_command_that_began_it(life: Any) -> None:
    with life.begin("run", "--detach", life.job_file("held", "echo ready; sleep 600")) as command:
        # Ends when every process that could write has closed its end.
        assert command.stdout.read() == "held\n"
    assert not life.job("held").status.terminal
    assert life("stop", "held", "--grace", "0", "--wait").returncode == 0


@pytest.mark.slow(2)
def test_jobs_shows_what_goes_on(life: Any) -> None:
    life.detach("going", "echo ready; sleep 600")
    life.until_phase("going", "Training")
    row = life("jobs").stdout.splitlines()[1].split()
    assert row[:4] == ["going", "training", "InProgress", "Training"]
    (summary,) = json.loads(life("jobs", "--json").stdout)["TrainingJobSummaries"]
    assert "SupervisorGone" not in summary
    life("stop", "going", "--grace", "0", "--wait")

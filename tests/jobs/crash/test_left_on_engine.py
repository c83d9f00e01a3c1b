"""An engine that is lost under a running job and comes back later: what the job left there is told, and removed."""

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from tests.jobs.crash.test_crash import Clean

TRAINS = "echo ready; sleep 600"
Docker = Callable[..., str]


def running(docker: Docker, name: str) -> bool:
    return bool(docker("ps", "--quiet", "--filter", f"label=smlocal.job={name}").strip())


@pytest.fixture
def name() -> str:
    """Not one that the same test has at this moment in another process."""
    return f"lost-{os.urandom(3).hex()}"


@pytest.fixture
def lost(relayed: Any, relay: Any, docker: Docker, name: str) -> Any:
    """A job that has failed because its engine was lost; its container runs on there."""
    relayed.detach(name, TRAINS)
    relayed.until_logged(name, "ready")
    relay.vanish()
    assert relayed("wait", name).returncode == 1
    assert running(docker, name)
    yield relayed
    for container in docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={name}").split():
        docker("rm", "--force", "--volumes", container)


def leftovers(life: Any) -> dict[str, Any]:
    done = life("doctor", "--json")
    return next(each for each in json.loads(done.stdout)["Doctor"]["Checks"] if each["Check"] == "leftovers")


@pytest.mark.slow(3)
@pytest.mark.long
def test_while_the_engine_is_away_nothing_is_forgotten(
    lost: Any, relay: Any, docker: Docker, assert_nothing_left: Clean, name: str
) -> None:
    assert "smlocal recover" in lost.describe(name)["Local"]["Leftovers"][0]
    found = leftovers(lost)
    assert (found["Severity"], f"{name} ({relay.address})" in found["Sentence"]) == ("warning", True)
    for command in (("rm", name), ("recover",), ("stop", name)):
        done = lost(*command)
        assert done.returncode == 3, (command, done.stderr)
        assert "[job-leftovers]" in done.stderr
        assert relay.address in done.stderr
        assert lost.job(name).status == "Failed"
    assert running(docker, name)
    relay.come_back()
    done = lost("recover")
    assert (done.returncode, "removed what it left" in done.stderr) == (0, True), done.stderr
    assert_nothing_left(name)
    assert lost("rm", name).returncode == 0
    assert leftovers(lost)["Severity"] == "ok"


@pytest.mark.slow(4)
@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "code"), [(("rm", "NAME"), 0), (("stop", "NAME"), 2), (("doctor", "--need", "container"), 0)]
)
def test_whoever_meets_the_engine_again_cleans_up(
    lost: Any, relay: Any, assert_nothing_left: Clean, name: str, command: tuple[str, ...], code: int
) -> None:
    relay.come_back()
    done = lost(*(name if word == "NAME" else word for word in command))
    assert done.returncode == code, done.stderr
    assert_nothing_left(name)
    assert lost.store.left_on_engines() == []
    assert leftovers(lost)["Severity"] == "ok"


@pytest.mark.slow(4)
@pytest.mark.long
def test_the_next_run_cleans_up_also_one_that_takes_the_name(
    lost: Any, relay: Any, docker: Docker, assert_nothing_left: Clean, name: str
) -> None:
    relay.come_back()
    container = docker("ps", "--quiet", "--filter", f"label=smlocal.job={name}").strip()
    done = lost("run", lost.job_file(name, "echo fine"), "--replace")
    assert done.returncode == 0, done.stderr
    assert f"removed what the job {name} left on this engine" in done.stderr
    assert container not in docker("ps", "--all", "--quiet")
    assert_nothing_left(name)


@pytest.mark.slow(3)
@pytest.mark.long
def test_an_engine_that_is_gone_for_good_can_be_forgotten(lost: Any, docker: Docker, name: str) -> None:
    done = lost("rm", "--force", name)
    assert done.returncode == 0, done.stderr
    assert "forgot what" in done.stderr
    assert lost.store.left_on_engines() == []
    assert lost("describe", name).returncode == 2
    assert running(docker, name)


@pytest.mark.slow(1)
def test_an_unfinished_job_whose_engine_is_gone_for_good_can_be_ended(
    relayed: Any, relay: Any, name: str, assert_nothing_left: Clean
) -> None:
    relayed.detach(name, TRAINS)
    relayed.until_logged(name, "ready")
    running_still = relayed("rm", "--abandon", name)
    assert (running_still.returncode, "[job-not-abandoned]" in running_still.stderr) == (2, True), running_still.stderr
    relayed.crash(name)
    relay.vanish()
    stays = relayed("recover")
    assert (stays.returncode, f"smlocal rm --abandon {name}" in stays.stderr) == (3, True), stays.stderr
    done = relayed("rm", "--abandon", name)
    assert done.returncode == 0, done.stderr
    assert f"may remain on the engine at {relay.address}" in done.stderr
    assert relayed("describe", name).returncode == 2
    relay.come_back()
    for command in (line.strip() for line in done.stderr.splitlines() if line.startswith("  docker")):
        subprocess.run(["sh", "-c", command], check=True, capture_output=True, timeout=60)
    assert_nothing_left(name)


def test_a_network_that_is_made_after_its_supervisor_was_killed(
    relayed: Any, relay: Any, docker: Docker, name: str, assert_nothing_left: Clean
) -> None:
    relay.hold("^POST /v[0-9.]+/networks/create")
    relayed.launch(name, "true", hosts=2)
    relay.held.wait()
    relayed.crash(name)
    done = relayed("recover")
    assert (done.returncode, relayed.job(name).status) == (0, "Failed"), done.stderr
    # With a container of its run, the network stays: any other job may remove that of a crashed job without one.
    labels = [f"smlocal.job={name}", f"smlocal.run={relayed.job(name).run_id}"]
    docker("create", *(word for each in labels for word in ("--label", each)), relayed.image)
    relay.let_go()
    relayed.until(lambda: bool(docker("network", "ls", "--quiet", "--filter", f"label=smlocal.job={name}")))
    done = relayed("recover")
    assert (done.returncode, "removed what it left" in done.stderr) == (0, True), done.stderr
    assert_nothing_left(name)
    assert relayed("recover").stderr == "No job needs recovery.\n"

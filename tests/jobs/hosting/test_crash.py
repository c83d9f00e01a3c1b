"""The supervisor is killed: the endpoint is found again or ended, and nothing is left."""

import json
import os
import random
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.serving.invocations import read_invocations

Clean = Callable[[str], None]


@pytest.mark.slow(3)
def test_an_endpoint_in_service_is_found_again(
    hosting: Any, life: Any, assert_nothing_left: Clean, docker: Any
) -> None:
    address = hosting.in_service("found")
    container = docker("ps", "--quiet", "--filter", "label=smlocal.job=found")
    assert hosting.invoke("found", "first").returncode == 0
    kept = life.store.directory("found")
    hosting.until(lambda: read_invocations(kept).total.requests == 1)
    life.crash("found")
    assert hosting.invoke("found", "still").stdout == "still"
    assert docker("ps", "--quiet", "--filter", "label=smlocal.job=found") == container
    assert hosting.described("found")["Local"]["Address"] == address
    assert hosting.listed() == {"found": "InService"}
    assert hosting.invoke("found", "say").returncode == 0
    hosting.until(lambda: hosting.log("found") == "serving\nasked\n")
    assert life("stop", "found", "--wait").returncode == 0
    assert hosting.log("found") == "serving\nasked\n"
    assert read_invocations(kept).total.requests == 3
    assert "Time to answer" in life("report", "found", "--html", "-").stdout
    assert_nothing_left("found")


@pytest.mark.slow(4)
def test_recover_brings_endpoints_back_into_service(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.in_service("recovered")
    life.crash("recovered")
    done = life("recover")
    assert (done.returncode, done.stderr.splitlines()) == (0, ["recovering recovered", "recovered InService"])
    assert hosting.invoke("recovered", "still").stdout == "still"
    assert life("recover").stderr == "No job needs recovery.\n"

    life.crash("recovered")
    life.ask_to_stop("recovered")
    assert life("recover").stderr.splitlines() == ["recovering recovered", "recovered Stopped"]
    assert_nothing_left("recovered")


@pytest.mark.slow(3)
def test_who_takes_the_port_of_a_killed_supervisor_gets_nothing(
    hosting: Any, life: Any, assert_nothing_left: Clean
) -> None:
    address = urlsplit(hosting.in_service("taken-port"))
    life.crash("taken-port")
    with socket.create_server((address.hostname, address.port)) as thief:
        thief.setblocking(False)
        assert hosting.invoke("taken-port", "secret").stdout == "secret"
        with pytest.raises(BlockingIOError):
            thief.accept()
        local = hosting.described("taken-port")["Local"]
        assert urlsplit(local["Address"]).port != address.port
        assert local["FormerAddress"] == address.geturl()
        assert f"from {address.geturl()}" in " ".join(life("describe", "taken-port").stdout.split())
    assert life("rm", "--stop", "taken-port").returncode == 0
    assert_nothing_left("taken-port")


@pytest.mark.slow(3)
def test_a_container_that_died_meanwhile_is_started_again(
    hosting: Any, life: Any, assert_nothing_left: Clean, docker: Any
) -> None:
    hosting.in_service("died")
    life.crash("died")
    docker("kill", *docker("ps", "--quiet", "--filter", "label=smlocal.job=died").split())
    hosting.until(lambda: hosting.invoke("died", "again").stdout == "again")
    assert hosting.described("died")["Local"]["RestartCount"] == 1
    assert life("rm", "--stop", "died").returncode == 0
    assert_nothing_left("died")


@pytest.mark.slow(3)
def test_a_container_that_was_removed_meanwhile_is_made_again(
    hosting: Any, life: Any, assert_nothing_left: Clean, docker: Any
) -> None:
    hosting.in_service("removed")
    life.crash("removed")
    docker("rm", "--force", *docker("ps", "--quiet", "--filter", "label=smlocal.job=removed").split())
    hosting.until(lambda: hosting.invoke("removed", "again").stdout == "again")
    assert life("rm", "--stop", "removed").returncode == 0
    assert_nothing_left("removed")


@pytest.mark.slow(3)
def test_an_endpoint_that_is_being_made_goes_on(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.archive()
    path = hosting.model_file("made", variables={"PING": "late:4"})
    life.commands.append(life.begin("deploy", path, "--name", "made"))
    hosting.until(lambda: life.store.count() == 1 and hosting.log("made") == "serving\n")
    life.crash("made")
    hosting.until(lambda: hosting.listed() == {"made": "Creating"} or hosting.listed() == {"made": "InService"})
    hosting.until(lambda: hosting.invoke("made", "x").stdout == "x")
    assert life("rm", "--stop", "made").returncode == 0
    assert_nothing_left("made")


@pytest.mark.slow(2)
def test_a_stop_of_an_endpoint_without_a_supervisor(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.in_service("served-orphan")
    life.crash("served-orphan")
    assert life("stop", "served-orphan", "--wait").returncode == 0
    assert hosting.listed() == {"served-orphan": "Stopped"}
    assert_nothing_left("served-orphan")
    assert life("rm", "served-orphan").returncode == 0


@pytest.mark.slow(2)
def test_an_endpoint_that_is_being_made_is_stopped(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.archive()
    path = hosting.model_file("unmade", variables={"PING": "never"})
    life.commands.append(life.begin("deploy", path, "--name", "unmade"))
    hosting.until(lambda: life.store.count() == 1 and hosting.log("unmade") == "serving\n")
    assert life("stop", "unmade", "--wait").returncode == 0
    assert_nothing_left("unmade")


@pytest.mark.slow(2)
def test_an_endpoint_whose_home_is_removed_ends(
    hosting: Any, life: Any, assert_nothing_left: Clean, docker: Any
) -> None:
    hosting.in_service("homeless")
    supervisor = life.job("homeless").supervisor_pid
    life.store.close()
    shutil.rmtree(life.home)
    hosting.until(lambda: not Path(f"/proc/{supervisor}").exists())
    assert docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job=homeless") == ""
    assert not life.home.exists()
    life.store = Store.open(str(life.home))
    assert_nothing_left("homeless")


@pytest.mark.slow(3)
def test_an_endpoint_whose_home_is_removed_leaves_the_next_one_of_its_name_alone(
    hosting: Any, life: Any, assert_nothing_left: Clean, docker: Any
) -> None:
    hosting.in_service("rehomed")
    supervisor = life.job("rehomed").supervisor_pid
    os.kill(supervisor, signal.SIGSTOP)  # it notices when there is another already
    life.store.close()
    shutil.rmtree(life.home)
    hosting.in_service("rehomed")
    os.kill(supervisor, signal.SIGCONT)
    hosting.until(lambda: not Path(f"/proc/{supervisor}").exists())
    life.store = Store.open(str(life.home))
    assert hosting.invoke("rehomed", "here").stdout == "here"
    folder = life.home / "jobs" / "rehomed"
    assert (folder / "invocations.socket").is_socket()
    assert (folder / "hosts").is_dir()
    assert hosting.described("rehomed")["EndpointStatus"] == "InService"
    assert len(docker("ps", "--quiet", "--filter", "label=smlocal.job=rehomed").split()) == 1
    assert life("rm", "--stop", "rehomed").returncode == 0
    assert_nothing_left("rehomed")


@pytest.mark.slow(2)
def test_an_endpoint_whose_folder_is_removed_ends(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.in_service("folderless")
    shutil.rmtree(life.home / "jobs" / "folderless")
    hosting.until(lambda: life.job("folderless").status.terminal)
    described = hosting.described("folderless")
    assert described["EndpointStatus"] == "Failed"
    assert "the folder of the endpoint was removed: " in described["Local"]["Explanation"]
    assert_nothing_left("folderless")
    assert life("rm", "folderless").returncode == 0


@pytest.mark.slow(12)
def test_killed_at_any_moment_it_is_found_again_or_ended(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.archive()
    chance = random.Random(seed := os.urandom(4))
    for number in range(int(os.environ.get("SMLOCAL_CRASHES", "6"))):
        name = f"any-{number}"
        life.commands.append(life.begin("deploy", hosting.model_file(name), "--name", name))
        hosting.until(lambda number=number: life.store.count() > number)
        time.sleep(chance.uniform(0, 1.0))
        life.crash(name)
        hosting.until(lambda name=name: hosting.invoke(name, "x").stdout == "x")
        assert hosting.described(name)["EndpointStatus"] == "InService", seed
        assert life("stop", name, "--wait").returncode == 0
        assert_nothing_left(name)
        assert json.loads(life("jobs", "--json").stdout)["Endpoints"][0]["EndpointStatus"] == "Stopped"


@pytest.mark.slow(4)
def test_an_endpoint_whose_engine_is_lost_ends_and_leaves_nothing(
    hosting: Any, relayed: Any, relay: Any, assert_nothing_left: Clean
) -> None:
    hosting.in_service("served-engine-gone")
    relay.vanish()
    hosting.until(lambda: relayed.job("served-engine-gone").status.terminal)
    assert hosting.listed() == {"served-engine-gone": "Failed"}
    assert "engine" in hosting.described("served-engine-gone")["Local"]["Explanation"]
    relay.come_back()
    assert relayed("recover").returncode == 0
    assert_nothing_left("served-engine-gone")
    assert relayed("rm", "served-engine-gone").returncode == 0

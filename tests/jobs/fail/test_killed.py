"""Ended from outside: by a signal, or by the kernel for want of memory; and a supervisor that is killed."""

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.kit import until

from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import supervised

Fails = Callable[..., dict[str, Any]]
Docker = Callable[..., str]

EAT = "tail /dev/zero"
"""Keeps everything since the last line end, and there is none."""
HEARD = "sleep 2"
"""Docker may never hear why a container ended that ends at once."""


def test_a_kill_from_outside_is_the_algorithms_error(
    fails: Fails, beside: Callable[..., Any], container: Callable[[str], str], docker: Docker
) -> None:
    end = beside(fails, "killed", "exec sleep 600")
    docker("kill", "--signal", "KILL", container("killed"))
    (host,) = end()["Local"]["Hosts"]
    assert (host["ExitCode"], host["OomKilled"], host["Signalled"]) == (137, False, False)


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(
    ("name", "eat", "exit_code"),
    [
        ("out-of-memory", f"exec {EAT}", 137),
        ("out-of-memory-passed-on", f"code=0; {EAT} || code=$?; {HEARD}; exit $code", 137),
        ("out-of-memory-child", f"{EAT} || {{ {HEARD}; exit 1; }}", 1),
    ],
)
def test_out_of_memory(
    name: str,
    eat: str,
    exit_code: int,
    fails: Fails,
    beside: Callable[..., Any],
    container: Callable[[str], str],
    docker: Docker,
) -> None:
    end = beside(fails, name, f"until [ -e /tmp/limited ]; do sleep 0.1; done; {eat}")
    docker("update", "--memory", "32m", "--memory-swap", "32m", container(name))
    docker("exec", container(name), "touch", "/tmp/limited")
    (host,) = end()["Local"]["Hosts"]
    assert (host["ExitCode"], host["OomKilled"]) == (exit_code, True)


def test_a_container_that_the_engine_makes_for_a_killed_supervisor_is_removed(
    image: Callable[[str], str],
    docker: Docker,
    relay: Any,
    smlocal_run: Callable[..., Any],
    smlocal_home: Path,
    assert_nothing_left: Callable[[str], None],
) -> None:
    """The engine goes on with the request after the next supervisor has looked for containers."""
    name, creates = "killed-making", r"POST \S*/containers/create\S*algo-1"
    killed, asked, made = Event(), Event(), Event()

    def kill() -> None:
        with Store.open(str(smlocal_home)) as store:
            job = store.get(name)
        assert job.supervisor_pid is not None
        request = next(each for each in reversed(relay.seen) if re.match(creates, each))
        container = re.split("[=& ]", request.partition("?")[2])[1]
        os.kill(job.supervisor_pid, signal.SIGKILL)
        killed.set()
        asked.wait(120)
        # As an engine does that has read the request: one that has not yet gives it up with the connection.
        labels = (f"smlocal.job={name}", f"smlocal.run={job.run_id}", "smlocal.host=algo-1")
        docker("create", "--name", container, *(word for each in labels for word in ("--label", each)), image("sh"))
        made.set()
        raise ConnectionAbortedError

    def wait_for_it() -> None:
        asked.set()
        assert made.wait(120)

    relay.before(creates, kill)
    environment = {"DOCKER_HOST": relay.address}
    smlocal_run("run", "--detach", "--image", image("sh"), "--name", name, env=environment)
    assert killed.wait(120)
    until(lambda: not supervised(str(smlocal_home / "jobs" / name)))  # a killed process may take a moment to end
    relay.before(creates, wait_for_it)  # the next supervisor's own: then the first one is seen
    done = smlocal_run("recover", env=environment)
    assert done.returncode == 0, done.stderr
    asked.set()
    assert made.wait(120)
    assert "killed" in json.loads(smlocal_run("describe", name, "--json").stdout)["Local"]["Explanation"]
    assert_nothing_left(name)

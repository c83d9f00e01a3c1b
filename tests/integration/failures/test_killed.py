"""Ended from outside: by a signal, or by the kernel for want of memory."""

from collections.abc import Callable
from typing import Any

import pytest

Fails = Callable[..., dict[str, Any]]
Docker = Callable[..., str]

EAT = "tail /dev/zero"
"""Keeps everything since the last line end, and there is none."""
HEARD = "sleep 2"
"""Of a container that ends at once Docker may never hear why."""


def test_a_kill_from_outside_is_the_algorithms_error(
    fails: Fails, beside: Callable[..., Any], container: Callable[[str], str], docker: Docker
) -> None:
    end = beside(fails, "killed", "exec sleep 600")
    docker("kill", "--signal", "KILL", container("killed"))
    (host,) = end()["Local"]["Hosts"]
    assert (host["ExitCode"], host["OomKilled"], host["Signalled"]) == (137, False, False)


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

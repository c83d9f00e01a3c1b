"""What Docker says of memory that ran out, told apart from what the container's state says."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from smlocal.engine.client import Client
from smlocal.engine.docker import DockerEngine
from smlocal.engine.documents import killed_for_memory, ran_out_of_memory
from smlocal.engine.endpoint import find_endpoint
from smlocal.engine.interface import ContainerSpec
from smlocal.terms.limits import Limits

Spec = Callable[..., ContainerSpec]

EAT = "dd if=/dev/zero of=/dev/null bs=256M count=1"
KILLED = 137
TRIES, SECONDS = 8, 5
"""The kernel tells of ten kills in five seconds and keeps more to itself."""
LIMITS = Limits(memory=32 << 20)
READABLE = os.geteuid() == 0 or Path("/proc/sys/kernel/dmesg_restrict").read_text().strip() == "0"


def ended(engine: DockerEngine, spec: ContainerSpec) -> str:
    container = engine.create(spec)
    engine.start(container)
    engine.wait(container)
    return container


@pytest.mark.parametrize(("script", "code"), [(f"exec {EAT}", KILLED), (f"{EAT} || sleep 2; exit 3", 3)])
def test_the_word_is_there_when_the_state_lacks_it(engine: DockerEngine, spec: Spec, script: str, code: int) -> None:
    for _ in range(TRIES):  # of some containers Docker never says it
        container = ended(engine, spec(script, limits=LIMITS))
        state = engine.state(container)
        assert state.exit_code == code
        forgotten = replace(state, oom_killed=False)
        if ran_out_of_memory(Client(find_endpoint()), container, forgotten, killed_by_us=False):
            return
    pytest.fail("Docker has not said it once")


@pytest.mark.skipif(not READABLE, reason="the kernel's log is not this user's to read")
@pytest.mark.parametrize("script", [f"exec {EAT}", f"{EAT} || exit 3"])
def test_the_kernel_says_so_at_once(engine: DockerEngine, spec: Spec, script: str) -> None:
    assert not killed_for_memory(ended(engine, spec("exit 1", limits=LIMITS)))
    for _ in range(TRIES):
        if killed_for_memory(ended(engine, spec(script, limits=LIMITS))):
            return
        time.sleep(SECONDS)
    pytest.fail("the kernel has not said it once")


@pytest.mark.slow(1)
@pytest.mark.parametrize("script", ["sh -c 'kill -9 $$'; exit $?", "exit 1"])
def test_no_word_of_what_ended_otherwise(engine: DockerEngine, spec: Spec, script: str) -> None:
    ended(engine, spec(f"exec {EAT}", limits=LIMITS))  # another's
    state = engine.state(ended(engine, spec(script, limits=LIMITS)))
    assert (state.exit_code in {1, 137}, state.oom_killed) == (True, False)


def test_a_kill_of_ours_is_no_want_of_memory(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("sleep 600"))
    engine.start(container)
    engine.signal(container, "SIGKILL")
    assert engine.wait(container) == KILLED
    assert not engine.state(container).oom_killed

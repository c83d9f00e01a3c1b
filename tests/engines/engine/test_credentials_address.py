"""Many jobs that begin and end at once: each has the address while it needs it, and the last leaves nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from smlocal.engine.docker import connect
from smlocal.engine.interface import JOB_LABEL, Resource, ResourceKind
from smlocal.jobs.credentials.listener import NETWORK, released, use_address

ROUNDS = 5


def come_and_go(number: int) -> list[bool]:
    """Whether the network was there each time that a job had claimed it."""
    engine, there = connect(), []
    for attempt in range(ROUNDS):
        mark = f"smlocal-credentials-crowd-{number}-{attempt}"
        use_address(engine, mark, {JOB_LABEL: f"crowd-{number}"})
        there.append(any(network.name == NETWORK for network in engine.networks()))
        with released(engine, {mark}):
            engine.remove(Resource(kind=ResourceKind.VOLUME, id=mark))
    return there


def test_a_crowd(docker: Callable[..., str], assert_nothing_left: Callable[[str], None]) -> None:
    if "Podman" in docker("version"):
        pytest.skip("Podman's networks are there only while a container is on them")
    with ThreadPoolExecutor(4) as crowd:
        found = [there for each in crowd.map(come_and_go, range(4)) for there in each]
    # Between a last one's look and its removal somebody may have come, who is given the address again.
    assert sum(found) >= len(found) // 2
    for number in range(4):
        assert_nothing_left(f"crowd-{number}")

"""Many jobs that begin and end at once: each has the address while it needs it, and the last leaves nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, cast

import pytest
from tests.kit import until

from smlocal.engine.engines import connect
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


class Beside:
    """An engine; another job ends right after the look with this number."""

    def __init__(self, look: int, then: Callable[[], None]) -> None:
        self.engine, self.look, self.then = connect(), look, then

    def owned(self) -> list[Resource]:
        found = self.engine.owned()
        self.look -= 1
        if self.look == 0:
            self.then()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


@pytest.mark.parametrize("look", [1, 2, 3])
def test_two_that_end_at_once(
    look: int, docker: Callable[..., str], assert_nothing_left: Callable[[str], None]
) -> None:
    """Whenever the other one ends, one of the two removes the address."""
    if "Podman" in docker("version"):
        pytest.skip("Podman's networks are there only while a container is on them")
    engine, marks = connect(), [f"smlocal-credentials-pair-{look}-{number}" for number in range(2)]
    for mark in marks:
        use_address(engine, mark, {JOB_LABEL: f"pair-{look}"})

    def end(mark: str) -> None:
        engine.remove(Resource(kind=ResourceKind.VOLUME, id=mark))

    with ExitStack() as other:
        other.enter_context(released(engine, {marks[1]}))

        def end_other() -> None:
            end(marks[1])
            other.close()

        with released(cast("Any", Beside(look, end_other)), {marks[0]}):
            end(marks[0])
    until(
        lambda: (
            bool(docker("volume", "ls", "--quiet", "--filter", "label=smlocal.credentials"))
            or not docker("network", "ls", "--quiet", "--filter", "label=smlocal.credentials")
        ),
        seconds=20,
    )
    assert_nothing_left(f"pair-{look}")

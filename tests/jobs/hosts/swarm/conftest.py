"""Engines that form a swarm."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.jobs.hosts.swarm.networked_engines import NetworkedEngines, Role

MakeEngines = Callable[..., NetworkedEngines]


@pytest.fixture(scope="session")
def make_engines() -> Iterator[MakeEngines]:
    """`make_engines("manager", "worker", hidden=[folder], image=tag)`: until the tests end, or `close` is called."""
    if os.geteuid() != 0:
        pytest.skip("only root can start a dockerd")
    if missing := [each for each in ("dockerd", "containerd", "ip", "nsenter") if not shutil.which(each)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    with ExitStack() as stack:

        def make(*roles: Role, hidden: Sequence[Path] = (), image: str = "") -> NetworkedEngines:
            made = NetworkedEngines()
            stack.callback(made.close)
            made.start(roles, hidden, image)
            return made

        yield make


@pytest.fixture(scope="session")
def swarm(make_engines: MakeEngines, image: Callable[[str], str]) -> NetworkedEngines:
    """A manager and a worker with the image `sh`, for all tests that kill neither of them."""
    return make_engines("manager", "worker", image=image("sh"))

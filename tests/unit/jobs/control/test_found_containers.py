"""The cause of an end that was not observed."""

import pytest

from smlocal.engine.interface import ContainerState
from smlocal.jobs.containers import FoundContainer, FoundContainers

BEGAN = "2026-11-20T21:05:49.898342929Z"


def state(
    finished: str, *, code: int = 137, started: str = "2026-11-20T21:05:37.098668389Z", status: str = "exited"
) -> ContainerState:
    return ContainerState(
        status=status, exit_code=code, oom_killed=False, error="", started_at=started, finished_at=finished
    )


def found(*states: ContainerState, began: str = BEGAN) -> FoundContainers:
    hosts = {
        f"algo-{number}": FoundContainer(id="c", state=each, engine_started=began)
        for number, each in enumerate(states, 1)
    }
    return FoundContainers(hosts=hosts)


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        (state("2026-11-20T21:05:49.284083317Z"), True),
        (state("2026-11-20T21:05:40.1Z", code=143), True),
        (state("2026-11-20T21:05:50.1Z", code=255), True),
        (state("2026-11-20T21:05:40.1Z", code=0), False),
        (state("2026-11-20T21:05:10.1Z"), False),
        (state("2026-11-20T21:06:40.1Z"), False),
        (state("2026-11-20T21:05:52.1Z", started="2026-11-20T21:05:51Z"), False),
        (state("0001-01-01T00:00:00Z", code=0, status="running"), False),
    ],
)
def test_what_failed_at_the_engines_start_is_the_engines(given: ContainerState, *, lost: bool) -> None:
    assert found(given).ended_with_the_engine is lost
    assert found(given, began="2026-11-20T22:05:49.898342929+01:00").ended_with_the_engine is lost
    assert not found(given, began="").ended_with_the_engine
    assert found(state("2026-11-20T21:05:10.1Z", code=0), given).ended_with_the_engine is lost


def test_the_end_is_that_of_the_last_container() -> None:
    early, late = state("2026-11-20T21:05:10.1Z"), state("2026-11-20T22:05:11.25+01:00")
    assert found(early, late).ended_at == 1_795_208_711.25
    assert found(early, state("0001-01-01T00:00:00Z", status="running")).ended_at is None
    assert found().ended_at is None

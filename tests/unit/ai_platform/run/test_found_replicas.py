from smlocal.ai_platform.run.container_events import FoundReplica
from smlocal.engine.interface import ContainerState


def test_a_signal_is_that_of_the_container_that_ran_then() -> None:
    times = {"started_at": "1970-01-01T00:01:40Z", "finished_at": "0001-01-01T00:00:00Z"}
    state = ContainerState(status="running", exit_code=0, oom_killed=False, error="", **times)
    found = FoundReplica(id="1", number=2, running=True, state=state)
    assert not found.got_signal(None)
    assert not found.got_signal(99.0)
    assert found.got_signal(101.0)
    assert not FoundReplica(id="1", number=2, running=False, state=None).got_signal(101.0)

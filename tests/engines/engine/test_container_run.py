"""The life of a container that belongs to no training host."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from tests.kit.engine_relay import EngineRelay
from tests.kit.fixtures import unused_subnet

from smlocal.engine.docker import DockerEngine
from smlocal.engine.engines import connect_to
from smlocal.engine.interface import JOB_LABEL, ContainerSpec, Mount, Written
from smlocal.errors import EngineError
from smlocal.jobs import container_run
from smlocal.jobs.container_run import ContainerRun
from smlocal.jobs.decide.events import ContainerEvent, ContainerExited, ContainerLost
from smlocal.terms.limits import Limits

Spec = Callable[..., ContainerSpec]


class Watched:
    """A run with everything that it reported."""

    def __init__(self, engine: DockerEngine, spec: ContainerSpec, log: str = "") -> None:
        self.events: list[ContainerEvent] = []
        self.written: list[bytes] = []
        self.warnings: list[str] = []
        self.wrote = threading.Event()
        self.run = ContainerRun(
            engine=engine,
            name="rule-1",
            on_event=self.events.append,
            on_output=self._output,
            on_warning=self.warnings.append,
            log=log,
        )
        self.run.create(spec)

    def _output(self, written: Written) -> None:
        self.written.append(written.lines)
        self.wrote.set()


@pytest.fixture
def watched(engine: DockerEngine, spec: Spec) -> Callable[..., Watched]:
    def make(script: str, log: str = "", **changes: object) -> Watched:
        return Watched(engine, spec(script, **changes), log)

    return make


def test_output_log_and_end(watched: Callable[..., Watched], tmp_path: Path) -> None:
    log = tmp_path / "logs" / "rule-1.log"
    container = watched("echo here; echo there >&2; exit 3", log=str(log))
    container.run.start()
    assert container.run.wait(200) == ContainerExited(container="rule-1", exit_code=3, oom_killed=False)
    container.run.join()
    assert sorted(b"".join(container.written).splitlines()) == [b"here", b"there"]
    assert log.read_bytes() == b"".join(container.written)
    assert container.events == [ContainerExited(container="rule-1", exit_code=3, oom_killed=False)]
    assert container.warnings == []


def test_its_own_mounts_environment_user_limits_and_network(
    watched: Callable[..., Watched], engine: DockerEngine, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    os.chmod(tmp_path / "data", 0o777)
    container = watched(
        "echo $NAME; id -u; id -g; ls /sys/class/net; wc -c < /data/in; echo x > /data/out",
        environment={"NAME": "rule"},
        user="4711:4712",
        mounts=(Mount(source=str(tmp_path / "data"), target="/data"),),
        limits=Limits(memory=64 << 20),
        network="none",
    )
    (tmp_path / "data" / "in").write_bytes(b"12345")
    container.run.start()
    assert container.run.wait(200) == ContainerExited(container="rule-1", exit_code=0, oom_killed=False)
    assert b"".join(container.written).split() == [b"rule", b"4711", b"4712", b"lo", b"5"]
    assert (tmp_path / "data" / "out").stat().st_uid == 4711
    container.run.remove()
    with pytest.raises(EngineError) as gone:
        engine.state(container.run.id)
    assert gone.value.status == 404


def test_a_stop_is_sigterm(watched: Callable[..., Watched]) -> None:
    container = watched("trap 'echo saved; exit 5' TERM; echo ready; while true; do sleep 0.1; done")
    container.run.start()
    assert container.wrote.wait(200)
    assert container.run.stop(60) == ContainerExited(container="rule-1", exit_code=5, oom_killed=False)
    assert b"".join(container.written) == b"ready\nsaved\n"


def test_sigkill_follows_after_the_grace_period(watched: Callable[..., Watched]) -> None:
    container = watched("trap '' TERM; echo ready; while true; do sleep 0.1; done")
    container.run.start()
    assert container.wrote.wait(200)
    began = time.monotonic()
    assert container.run.stop(0.5) == ContainerExited(container="rule-1", exit_code=137, oom_killed=False)
    assert time.monotonic() - began >= 0.5


def test_a_stop_after_the_end_is_harmless(watched: Callable[..., Watched]) -> None:
    container = watched("exit 4")
    container.run.start()
    assert container.run.wait(200) == ContainerExited(container="rule-1", exit_code=4, oom_killed=False)
    assert container.run.stop(60) == ContainerExited(container="rule-1", exit_code=4, oom_killed=False)


def test_it_can_be_removed_while_it_runs(watched: Callable[..., Watched]) -> None:
    container = watched("echo ready; while true; do sleep 0.1; done")
    container.run.start()
    assert container.wrote.wait(200)
    assert container.run.wait(0.1) is None  # passes: it runs
    container.run.abandon()
    container.run.remove()
    container.run.wait(200)
    assert container.events == []


def test_a_program_that_is_missing(watched: Callable[..., Watched]) -> None:
    container = watched("true", entrypoint=("/no-such-program",))
    with pytest.raises(EngineError, match="no such file"):
        container.run.start()
    container.run.remove()


@pytest.mark.slow(1)
def test_a_container_is_replaced_by_a_fresh_one_in_the_same_place(
    watched: Callable[..., Watched], spec: Spec, engine: DockerEngine, job: str, tmp_path: Path
) -> None:
    """It has the name, host name, address, mounts and log of the one before, and nothing that was written elsewhere."""
    subnet = unused_subnet("192.0.2.0/24")
    gateway, address = str(ip_network(subnet)[1]), str(ip_network(subnet)[4])
    engine.create_network(f"{job}-net", {JOB_LABEL: job}, subnet=subnet, gateway=gateway)
    (tmp_path / "data").mkdir()
    log = tmp_path / "rule-1.log"
    place = {
        "name": f"{job}-rule-1",
        "mounts": (Mount(source=str(tmp_path / "data"), target="/data"),),
        "network": f"{job}-net",
        "address": address,
    }
    script = "grep $(hostname) /etc/hosts | cut -d' ' -f1; ls /tmp /data; touch /tmp/lost /data/kept; exit 143"
    container = watched(script, str(log), **place)
    ended = ContainerExited(container="rule-1", exit_code=143)
    container.run.start()
    assert container.run.wait(200) == ended
    following = container.run.replaced(spec(script, **place))
    following.start()
    assert following.wait(200) == ended
    following.join()
    known = f"{address}\talgo-1\n"
    assert log.read_text() == f"{known}/data:\n\n/tmp:\n{known}/data:\nkept\n\n/tmp:\n"
    assert container.events == [ended, ended]
    assert len(engine.owned(job)) == 2  # it, and its network


def test_its_name_is_taken_from_a_container_that_was_left(
    watched: Callable[..., Watched], engine: DockerEngine, spec: Spec, job: str
) -> None:
    left = engine.create(spec(name=f"{job}-named", labels={JOB_LABEL: job, "left": ""}))
    here = watched("exit 3", name=f"{job}-named")
    here.run.start()
    assert here.run.wait(200) == ContainerExited(container="rule-1", exit_code=3, oom_killed=False)
    assert left not in {each.id for each in engine.owned(job)}


def test_a_run_is_taken_over(watched: Callable[..., Watched], engine: DockerEngine, tmp_path: Path) -> None:
    first = watched("echo one; until [ -e /tmp/go ]; do sleep 0.1; done; echo two; exit 6")
    first.run.start()
    events: list[ContainerEvent] = []
    log = tmp_path / "rule-1.log"
    log.write_bytes(b"earlier\none")
    second = ContainerRun(engine=engine, name="rule-1", on_event=events.append, log=str(log))
    second.take_over(first.run.id)
    second.watch_end()
    subprocess.run(["docker", "exec", first.run.id, "touch", "/tmp/go"], check=True)
    assert second.wait(200) == ContainerExited(container="rule-1", exit_code=6, oom_killed=False)
    second.join()
    second.complete_log(len(b"earlier\n"))
    assert log.read_bytes() == b"earlier\none\ntwo\n"
    assert events == [ContainerExited(container="rule-1", exit_code=6, oom_killed=False)]


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[EngineRelay]:
    relay = EngineRelay(tmp_path / "engine.sock")
    yield relay
    relay.vanish()


def test_a_lost_engine_is_reported_and_a_stop_ends(
    relay: EngineRelay, spec: Spec, engine: DockerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMLOCAL_ENGINE_TIMEOUT", "4")
    container = Watched(connect_to(relay.address), spec("echo ready; while true; do sleep 0.1; done"))
    container.run.start()
    assert container.wrote.wait(200)
    relay.vanish()
    result = container.run.wait(200)
    assert isinstance(result, ContainerLost)
    assert container.run.stop(60) == result
    container.run.join()
    assert container.events == [result]
    assert engine.state(container.run.id).status == "running"
    relay.come_back()
    container.run.remove()


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize("trouble", ["cut", "stall"])
def test_lines_that_a_broken_connection_lost_come_from_the_engine(
    trouble: str, relay: EngineRelay, spec: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_run, "_SILENCE_SECONDS", 2.0)
    log = tmp_path / "rule-1.log"
    log.write_bytes(b"of an earlier attempt\n")
    told = "until [ -e /tmp/go ]; do sleep 0.1; done"
    script = f"echo one; echo two; printf thr; {told}; echo ee; echo two >&2; echo four; sleep 2; exit 6"
    container = Watched(connect_to(relay.address), spec(script), str(log))
    container.run.start()
    assert container.wrote.wait(200)
    while b"".join(container.written).count(b"\n") < 2:
        time.sleep(0.05)
    time.sleep(0.5)
    getattr(relay, trouble)("/attach")
    subprocess.run(["docker", "exec", container.run.id, "touch", "/tmp/go"], check=True)
    assert container.run.wait(200) == ContainerExited(container="rule-1", exit_code=6, oom_killed=False)
    container.run.join()
    lines = log.read_bytes().splitlines()
    assert lines[:3] == [b"of an earlier attempt", b"one", b"two"]
    assert sorted(lines[3:]) == [b"four", b"three", b"two"]
    assert b"".join(container.written) == log.read_bytes().partition(b"attempt\n")[2]
    (warning,) = container.warnings
    assert "the connection to its output broke; " in warning
    container.run.remove()


@pytest.mark.slow(1)
def test_a_program_that_closes_its_streams_early(watched: Callable[..., Watched], tmp_path: Path) -> None:
    log = tmp_path / "rule-1.log"
    container = watched("echo one; exec >/dev/null 2>&1; sleep 3", log=str(log))
    container.run.start()
    assert container.run.wait(200) == ContainerExited(container="rule-1", exit_code=0, oom_killed=False)
    container.run.join()
    assert log.read_bytes() == b"one\n"
    assert container.warnings == []

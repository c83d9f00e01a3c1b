"""Networks of a swarm, containers of two engines on them, and what goes wrong there."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from uuid import uuid4

import pytest
from tests.jobs.hosts.swarm.networked_engines import NetworkedEngines

from smlocal.engine.docker import DockerEngine
from smlocal.engine.engines import connect_to, engines_at
from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, ContainerSpec, Resource, ResourceKind
from smlocal.engine.networks import check_swarm
from smlocal.errors import EngineNameInUseError, NetworkGoneError, SubnetInUseError
from smlocal.jobs.container_run import ContainerRun
from smlocal.jobs.finish.cleanup import clear_engines

SUBNET, GATEWAY = "203.0.113.0/29", "203.0.113.1"
"""As small as it can be for two hosts: the swarm has two addresses, and so have the hosts."""
ADDRESSES = ("203.0.113.4", "203.0.113.5")


@pytest.fixture
def manager(swarm: NetworkedEngines) -> DockerEngine:
    return connect_to(swarm.engines[0].address)


@pytest.fixture
def worker(swarm: NetworkedEngines) -> DockerEngine:
    return connect_to(swarm.engines[1].address)


@pytest.fixture
def job(manager: DockerEngine, worker: DockerEngine) -> Iterator[str]:
    """A network and containers with this label are removed in the order that a swarm wants."""
    name = f"overlay-{uuid4().hex[:8]}"
    yield name
    for kind in (ResourceKind.CONTAINER, ResourceKind.NETWORK):
        for engine in (worker, manager):
            for resource in engine.owned(name):
                if resource.kind is kind:
                    engine.remove(resource)


@pytest.fixture
def host(job: str, image: Callable[[str], str]) -> Callable[..., ContainerSpec]:
    def make(number: int, script: str, address: str = "") -> ContainerSpec:
        return ContainerSpec(
            name=f"{job}-algo-{number}-{uuid4().hex[:4]}",
            image=image("sh"),
            labels={JOB_LABEL: job},
            entrypoint=("/bin/sh", "-c"),
            command=(script,),
            environment={},
            hostname=f"algo-{number}",
            network=job,
            address=address or ADDRESSES[number - 1],
            extra_hosts={f"algo-{each}": address for each, address in enumerate(ADDRESSES, 1)},
        )

    return make


def output_of(engine: DockerEngine, spec: ContainerSpec) -> str:
    """Run a container to its end, and remove it."""
    lines = []
    container = ContainerRun(engine=engine, name=spec.name, on_output=lambda written: lines.append(written.lines))
    container.create(spec)
    container.start()
    container.wait()
    container.join()
    container.remove()
    return b"".join(lines).decode()


@pytest.mark.slow(4)
def test_planned_addresses_are_the_hosts_whatever_the_swarm_takes(
    manager: DockerEngine, worker: DockerEngine, job: str, host: Callable[..., ContainerSpec]
) -> None:
    assert check_swarm([worker.swarm_member(), manager.swarm_member()]) == manager.facts().address
    manager.create_network(job, {JOB_LABEL: job}, subnet=SUBNET, gateway=GATEWAY, isolated=True, overlay=True)
    waiting = manager.create(host(1, "exec sleep 600"))
    manager.start(waiting)
    # Each time, the swarm takes an address for this engine, and gives it back.
    for _ in range(2):
        seen = output_of(worker, host(2, "getent hosts algo-1; ping -c 1 -w 5 algo-1; ip -o -4 addr; ip route"))
        assert "1 packets received" in seen
        assert f"eth0    inet {ADDRESSES[1]}/29" in seen
        assert "default" not in seen
        assert "eth1" not in seen
    assert manager.addresses(waiting) == (ADDRESSES[0],)
    with pytest.raises(EngineNameInUseError):
        manager.create_network(job, {JOB_LABEL: job}, subnet="203.0.113.64/29", gateway="203.0.113.65", overlay=True)
    with pytest.raises(SubnetInUseError, match=f"{job} .* has addresses of {SUBNET}"):
        manager.create_network(f"{job}-2", {JOB_LABEL: job}, subnet=SUBNET, gateway=GATEWAY, overlay=True)
    assert [each.name for each in manager.networks() if each.name.startswith(job)] == [job]


@pytest.mark.slow(1)
def test_a_network_that_is_removed_before_a_container_starts(
    manager: DockerEngine, worker: DockerEngine, job: str, host: Callable[..., ContainerSpec]
) -> None:
    manager.create_network(job, {JOB_LABEL: job}, subnet=SUBNET, gateway=GATEWAY, overlay=True)
    made = [(engine, engine.create(host(number, "true"))) for number, engine in enumerate((manager, worker), 1)]
    (network,) = [each for each in manager.owned(job) if each.kind is ResourceKind.NETWORK]
    manager.remove(network)
    for engine, container in made:
        with pytest.raises(NetworkGoneError):
            engine.start(container)


@pytest.mark.slow(5)
def test_a_container_that_is_not_attached_in_time_is_tried_once_more(
    manager: DockerEngine, worker: DockerEngine, job: str, host: Callable[..., ContainerSpec]
) -> None:
    """The swarm waits for an address that another container has: 20 seconds."""
    manager.create_network(job, {JOB_LABEL: job}, subnet=SUBNET, gateway=GATEWAY, overlay=True)
    holder = manager.create(host(1, "exec sleep 600"))
    manager.start(holder)
    lines, warnings = [], []

    def warn(sentence: str) -> None:
        warnings.append(sentence)
        manager.remove(Resource(kind=ResourceKind.CONTAINER, id=holder))

    late = ContainerRun(
        engine=worker, name="algo-2", on_output=lambda written: lines.append(written.lines), on_warning=warn
    )
    late.create(host(2, "echo there", ADDRESSES[0]))
    late.start()
    late.wait()
    late.join()
    assert lines == [b"there\n"]
    (warning,) = warnings
    assert warning.startswith("algo-2: attaching to network failed")


@pytest.mark.slow(8)
def test_no_engine_lists_the_network_once_it_is_removed(
    swarm: NetworkedEngines, job: str, host: Callable[..., ContainerSpec]
) -> None:
    """Docker answers before its engines have removed their parts of it. How much later they do varies."""
    engines = engines_at(each.address for each in reversed(swarm.engines))  # the worker first
    labels = {JOB_LABEL: job, RUN_LABEL: "run"}
    for _ in range(5):
        engines.at(swarm.engines[0].address).create_network(job, labels, subnet=SUBNET, gateway=GATEWAY, overlay=True)
        for number, engine in enumerate(engines, 1):
            engine.start(engine.create(replace(host(number, "exec sleep 600"), labels=labels)))
        assert clear_engines(engines, job, "run", engine_lost=False) == {}
        assert [each for engine in engines for each in engine.owned(job)] == []

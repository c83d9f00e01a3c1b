"""Subnets that are taken, and what crashed jobs leave in the way of others."""

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.kit.fixtures import unused_subnet
from tests.kit.jobs import Ran

from smlocal.engine.docker import DockerEngine
from smlocal.engine.engines import connect, engines_named
from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, Resource, ResourceKind
from smlocal.errors import EngineError, SubnetInUseError
from smlocal.jobs.planning.aspects.network.look import FOLDER_LABEL, make_network, on_network, remove_leftover_networks
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.lease import Lease
from smlocal.sagemaker.training.planning import plan_job

RunJob = Callable[..., Ran]
HOSTS = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}


@pytest.fixture
def within() -> str:
    """Room for one network of a job, which no other test has."""
    return unused_subnet("198.51.100.0/24")


@pytest.fixture
def take() -> Iterator[Callable[..., str]]:
    """Makes a network that has a subnet, and removes it in the end; returns its id."""
    engine = connect()
    made: list[str] = []

    def make(subnet: str, **labels: str) -> str:
        name = f"networks-{secrets.token_hex(4)}"
        made.append(name)
        marks = {key.replace("_", "."): value for key, value in labels.items()}
        engine.create_network(name, marks, subnet=subnet, gateway=_first(subnet))
        return next(each.id for each in engine.networks() if each.name == name)

    yield make
    for name in made:
        with suppress(EngineError):
            engine.remove(Resource(kind=ResourceKind.NETWORK, id=name))


def _first(subnet: str) -> str:
    address, _, last = subnet.partition("/")[0].rpartition(".")
    return f"{address}.{int(last) + 1}"


def test_a_range_that_somebody_else_has(
    take: Callable[..., str], within: str, job_file: Callable[..., Path], smlocal_run: Callable[..., Any]
) -> None:
    take(within)
    path = job_file([], "true", local={"NetworkRange": within}, **HOSTS)
    done = smlocal_run("run", path)
    assert done.returncode == 3
    assert "[network-range]" in done.stderr
    assert "networks-" in done.stderr
    assert '"TrainingJobSummaries": []' in smlocal_run("jobs", "--json").stdout


def test_what_a_crashed_job_left_is_removed(
    take: Callable[..., str], within: str, run_job: RunJob, smlocal_home: Path
) -> None:
    crashed = smlocal_home / "jobs" / "networks-crashed"
    crashed.mkdir(parents=True)
    marks = {JOB_LABEL: "networks-crashed", RUN_LABEL: "0badf00d", FOLDER_LABEL: str(crashed)}
    left = take(within, **marks)
    # One of a job that is supervised, and one of which nothing is known here: a home that only somebody else sees.
    (smlocal_home / "jobs" / "networks-alive").mkdir()
    lease = Lease.take(str(smlocal_home / "jobs" / "networks-alive"))
    others = [
        take(unused_subnet("203.0.113.0/25"), **{**marks, RUN_LABEL: f"{number:08x}", FOLDER_LABEL: folder})
        for number, folder in enumerate([str(smlocal_home / "jobs" / "networks-alive"), "/nowhere/jobs/networks"])
    ]
    assert lease is not None
    with lease:
        ran = run_job([], "true", local={"NetworkRange": within}, **HOSTS)
    assert ran.exit == 0, ran.answer["Local"]["Explanation"] or ran.stderr
    there = {each.id for each in connect().networks()}
    assert left not in there
    assert there >= set(others)


@pytest.fixture
def planned(job_file: Callable[..., Path], tmp_path: Path) -> Callable[..., JobPlan]:
    """The plan of a job with two hosts whose networks come from a range."""
    from smlocal.jobfile.reading import load_document
    from smlocal.sagemaker.jobfile.job_file import read_job

    def plan(within: str) -> JobPlan:
        path = job_file([], "true", local={"NetworkRange": within}, **HOSTS)
        document = load_document(path.read_text(), name=path.name, directory=str(tmp_path))
        job = read_job(document, strict=False)
        return plan_job(job, name=path.stem, home=str(tmp_path / "home"), engines=engines_named(()), strict=False)

    return plan


def test_a_subnet_that_is_taken_meanwhile(take: Callable[..., str], planned: Callable[..., JobPlan]) -> None:
    engine: DockerEngine = connect()
    plan = on_network(planned("198.18.0.0/15"), "networks-moves", taken := unused_subnet("198.51.100.0/24"))
    take(taken)
    made = make_network(engines_named(()), plan)
    try:
        assert made.network.own is not None
        assert made.network.own.subnet != taken
        # With the first name there would be two of it, if the subnet is that of a network that is not complete.
        assert made.network.own.name == "networks-moves-2"
        there = {each.name: each.subnets for each in engine.networks()}
        assert there[made.network.own.name] == (made.network.own.subnet,)
    finally:
        for each in engine.owned(plan.name):
            engine.remove(each)
    with pytest.raises(SubnetInUseError):
        engine.create_network("networks-never", {}, subnet=taken, gateway=_first(taken))


def test_a_network_that_a_killed_supervisor_has_asked_for(planned: Callable[..., JobPlan]) -> None:
    engine: DockerEngine = connect()
    plan = planned("198.18.0.0/15")
    first = make_network(engines_named(()), plan)
    try:
        second = make_network(engines_named(()), plan)
        assert first.network.own is not None
        assert second.network.own is not None
        there = {each.name: each.subnets for each in engine.networks()}
        assert there[first.network.own.name] == (first.network.own.subnet,)
        assert there[second.network.own.name] == (second.network.own.subnet,)
        assert first.network.own.name != second.network.own.name
    finally:
        for each in engine.owned(plan.name):
            engine.remove(each)


@pytest.mark.slow(1)
@pytest.mark.long
def test_a_network_whose_containers_the_engine_has_miscounted(
    own_engine: Any, image: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Docker before 28.1 loses count, rarely, when many containers end at once: here we write down one too many."""
    major, minor = own_engine.docker("version", "--format", "{{.Server.Version}}").split(".")[:2]
    if (int(major), int(minor)) >= (28, 1):
        pytest.skip("this Docker counts no more")
    own_engine.load(tag := image("sh"))
    monkeypatch.setenv("DOCKER_HOST", own_engine.address)
    crashed = tmp_path / "home" / "jobs" / "miscounted"
    crashed.mkdir(parents=True)
    engine = connect()
    engine.create_network("miscounted", {FOLDER_LABEL: str(crashed)}, subnet="198.51.100.0/29", gateway="198.51.100.1")
    made = next(each for each in engine.networks() if each.name == "miscounted")
    network = Resource(kind=ResourceKind.NETWORK, id=made.id, labels=made.labels)
    own_engine.docker(
        "run", "--detach", "--name", "on-it", "--network", made.id, "--env", "SCRIPT=sleep 600", tag, "train"
    )
    with pytest.raises(EngineError, match="active endpoints"):
        engine.remove(network)  # rightly
    _count_one_more(own_engine.folder / "data" / "network" / "files" / "local-kv.db", made.id)
    own_engine.docker("rm", "--force", "on-it")
    with pytest.raises(EngineError, match=r"counts removed containers on it .* after a restart of Docker"):
        engine.remove(network)
    assert made.id in {each.id for each in remove_leftover_networks(engine, engine.networks())}
    own_engine.kill()
    own_engine.start()
    assert made.id not in {each.id for each in remove_leftover_networks(engine, engine.networks())}
    assert made.id not in {each.id for each in engine.networks()}


def _count_one_more(database: Path, network: str) -> None:
    """In Docker's database, in place: the page that counts is the last one, older ones are free."""
    content = database.read_bytes()
    pattern = rf"endpoint_count/{network}/.{{8}}\{{\"Count\":1".encode()
    places = [found.end() - 1 for found in re.finditer(pattern, content, re.DOTALL)]
    assert places
    with database.open("r+b") as file:
        for place in places:
            file.seek(place)
            file.write(b"2")

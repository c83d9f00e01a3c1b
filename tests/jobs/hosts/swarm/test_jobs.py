"""Whole jobs whose hosts run on several engines, none of which sees the folders of this machine."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.doors.remote.test_remote import channel
from tests.jobs.hosts.swarm.conftest import MakeEngines
from tests.kit.life import Life
from tests.kit.own_engine import OwnEngine

HOSTS = ("algo-1", "algo-2", "algo-3")
WAITS = "until [ -e /opt/ml/output/go ]; do sleep 0.05; done"


@pytest.fixture(scope="module")
def unseen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that no engine sees."""
    return tmp_path_factory.mktemp("unseen-by-several")


@pytest.fixture(scope="module")
def engines(make_engines: MakeEngines, unseen: Path, image: Callable[[str], str]) -> list[OwnEngine]:
    """A manager, the only one with the image, and two workers."""
    made = make_engines("manager", "worker", "worker", hidden=[unseen])
    made.engines[0].load(image("sh"))
    return made.engines


@pytest.fixture
def life(unseen: Path, image: Callable[[str], str], request: Any) -> Iterator[Life]:
    folder = unseen / request.node.name
    folder.mkdir()
    environment = {"SMLOCAL_ENGINE_TIMEOUT": "20"}  # a lost engine is awaited for a third of the usual time
    it = Life(folder=folder, home=folder / "home", image=image("sh"), environment=environment)
    yield it
    it.end()


def on(*engines: OwnEngine, **more: Any) -> dict[str, Any]:
    return {"Local": {"Engines": [each.address for each in engines], **more}}


def let_go(engines: list[OwnEngine], name: str) -> None:
    for engine in engines:
        for each in engine.docker("ps", "--quiet", "--filter", f"label=smlocal.job={name}").split():
            engine.docker("exec", each, "touch", "/opt/ml/output/go")


def left(engines: list[OwnEngine]) -> list[str]:
    """Containers, volumes and networks of jobs."""
    kinds = (("ps", "--all"), ("volume", "ls"), ("network", "ls"))
    found = [each.docker(*kind, "--quiet", "--filter", "label=smlocal.job") for each in engines for kind in kinds]
    return [each for text in found for each in text.split()]


@pytest.mark.slow(3)
def test_hosts_on_three_engines_with_two_supervisors(life: Life, engines: list[OwnEngine]) -> None:
    (life.folder / "data").mkdir()
    (life.folder / "data" / "a").write_text("content\n")
    script = f"""
        cat /opt/ml/input/data/train/a; ls /sys/class/net; cat /sys/class/net/eth0/mtu
        for each in {" ".join(HOSTS)}; do ping -c 1 -W 1 $each | head -n 1; done
        for each in {" ".join(HOSTS)}; do until ping -c 1 -W 1 $each >/dev/null; do :; done; done
        me=$(grep -o '"current_host":"[^"]*' /opt/ml/input/config/resourceconfig.json | cut -d'"' -f4)
        echo met; {WAITS}; echo $me >/opt/ml/model/$me
    """
    manager, *workers = engines
    members = {"InputDataConfig": [channel("./data")], **on(*workers, manager)}
    life.detach("several-whole", script, hosts=3, **members)
    for host in HOSTS:
        life.until_logged("several-whole", "met", host)
    names = [each.docker("ps", "--format", "{{.Names}}").split() for each in (*workers, manager)]
    assert [each.rpartition("-algo-")[2] for (each,) in names] == ["1", "2", "3"]
    life.crash("several-whole")
    let_go(engines, "several-whole")
    done = life("recover")
    assert done.returncode == 0, done.stderr
    answer = life.describe("several-whole")
    assert answer["TrainingJobStatus"] == "Completed", answer
    seen = [each["Engine"] for each in answer["Local"]["Hosts"]]
    assert seen == [each.address for each in (*workers, manager)]
    for host in HOSTS:
        data, *network, mtu = life.log("several-whole", host).splitlines()[:5]
        assert (data, network, mtu) == ("content", ["eth0", "eth1", "lo"], "1450")
        assert all(f"PING {each} (198." in life.log("several-whole", host) for each in HOSTS)
    assert life.model("several-whole") == [*HOSTS]
    assert {note["Id"] for note in answer["Local"]["Notes"]} >= {"several-engines"}
    assert left(engines) == []


@pytest.mark.slow(3)
def test_two_jobs_at_once_on_the_same_engines(life: Life, engines: list[OwnEngine]) -> None:
    pair = engines[:2]
    reached = (
        "for each in algo-1 algo-2; do until ping -c 1 -W 1 $each >/tmp/said; do :; done; head -n 1 /tmp/said; done"
    )
    members = on(*pair, NetworkRange="198.51.100.0/23")  # two subnets, and both jobs may choose the same one first
    first, second = names = ("several-at-once-1", "several-at-once-2")
    for name in names:
        request = life.job_file(name, f"{reached}; echo met; {WAITS}", hosts=2, **members)
        life.commands.append(life.begin("run", "--detach", request))
    for name in names:
        for host in HOSTS[:2]:
            life.until_logged(name, "met", host)
    let_go(pair, first)
    assert life("wait", first).returncode == 0
    for engine in pair:
        (container,) = engine.docker("ps", "--all", "--quiet", "--filter", "label=smlocal.job").split()
        seen = engine.docker("exec", container, "sh", "-c", reached)
        assert seen + "met\n" == life.log(second)
    let_go(pair, second)
    assert life("wait", second).returncode == 0
    assert life.log(first) != life.log(second)
    assert left(engines) == []


@pytest.mark.slow(4)
def test_an_engine_that_is_lost_is_a_lost_instance(life: Life, engines: list[OwnEngine]) -> None:
    manager, worker, _ = engines
    script = f"""
        trap 'echo saved >/opt/ml/model/saved; exit 0' TERM; ls /sys/class/net; echo ready
        {WAITS} & wait
    """
    placement = {"algo-1": manager.address, "algo-2": worker.address}
    members = {"EnableNetworkIsolation": True, **on(manager, worker, Placement=placement)}
    life.detach("several-lost", script, hosts=2, **members)
    for host in HOSTS[:2]:
        life.until_logged("several-lost", "ready", host)
        assert life.log("several-lost", host) == "eth0\nlo\nready\n"
    worker.kill()
    assert life("wait", "several-lost").returncode == 1
    answer = life.describe("several-lost")
    assert (answer["TrainingJobStatus"], answer["FailureReason"][:19]) == ("Failed", "InternalServerError")
    local = answer["Local"]
    assert worker.address in local["Explanation"]
    assert life.model("several-lost") == ["saved"]
    assert f"the output of algo-2 is on the engine at {worker.address}, which was lost" in local["Artifacts"]["Notes"]
    refused = life("recover")
    assert (refused.returncode, worker.address in refused.stderr) == (3, True), refused.stderr
    worker.start()
    done = life("recover")
    assert done.returncode == 0, done.stderr
    assert left(engines) == []


@pytest.mark.slow(5)
def test_another_supervisor_restarts_the_job_on_the_same_engines(life: Life, engines: list[OwnEngine]) -> None:
    workers = engines[1:]  # the manager runs no host
    for each in workers:
        each.load(life.image)
    placement = {"algo-1": workers[1].address, "algo-2": workers[0].address}  # not in the order of the list
    faults = [{"Kind": "InternalError", "When": "After"}]
    members = {"RetryStrategy": {"MaximumRetryAttempts": 1}, **on(*engines, Placement=placement, Faults=faults)}
    life.detach("several-again", f"echo ready; {WAITS}", hosts=2, **members)
    for host in HOSTS[:2]:
        life.until_logged("several-again", "ready", host)
    life.crash("several-again")
    let_go(engines, "several-again")
    recovering = life.begin("recover")
    for host in HOSTS[:2]:
        life.until_logged("several-again", "ready\nready", host)
    names = [each.docker("ps", "--format", "{{.Names}}").split() for each in engines]
    assert [[each.rpartition("-")[2] for each in on_one] for on_one in names] == [[], ["2"], ["1"]]
    let_go(engines, "several-again")
    recovering.communicate(timeout=60)
    answer = life.describe("several-again")
    assert (answer["TrainingJobStatus"], answer["Local"]["Attempts"]) == ("Completed", 2), answer["Local"]
    assert left(engines) == []


@pytest.mark.slow(5)
def test_a_network_that_cannot_be_removed_is_named_and_removed_later(life: Life, engines: list[OwnEngine]) -> None:
    manager, worker, _ = engines
    life.detach("several-kept", f"echo ready; {WAITS}", hosts=2, **on(worker, manager))
    for host in HOSTS[:2]:
        life.until_logged("several-kept", "ready", host)
    network = worker.docker("network", "ls", "--format", "{{.ID}} {{.Name}}", "--filter", "label=smlocal.job")
    identity, name = network.split()
    guest = ("run", "--detach", "--name", "guest", "--network", name, "--entrypoint", "sleep", life.image, "600")
    worker.docker(*guest)
    let_go(engines, "several-kept")
    assert life("wait", "several-kept").returncode == 0
    answer = life.describe("several-kept")
    assert answer["TrainingJobStatus"] == "Completed"
    assert [each for each in answer["Local"]["Leftovers"] if identity in each] == answer["Local"]["Leftovers"]
    assert len(answer["Local"]["Leftovers"]) == len([manager, worker])
    assert len(left(engines)) == len([manager, worker])
    worker.docker("rm", "--force", "guest")
    assert life("recover").returncode == 0
    assert left(engines) == []


@pytest.mark.slow(3)
@pytest.mark.parametrize("phase", ["Downloading", "Uploading"])
def test_an_engine_that_is_lost_while_data_is_moved(life: Life, engines: list[OwnEngine], phase: str) -> None:
    manager, worker, _ = engines
    name = f"several-{phase.lower()}"
    data = life.folder / "data"
    data.mkdir()
    with (data / "big").open("wb") as file:
        file.truncate(300 << 20)  # so much that it takes some time
    script = "dd if=/dev/zero of=/opt/ml/model/$HOSTNAME bs=1M count=300"
    members = {"InputDataConfig": [channel("./data")]} if phase == "Downloading" else {}
    life.launch(name, script, hosts=2, **members, **on(manager, worker))
    life.until_phase(name, phase)
    worker.kill()
    assert life("wait", name).returncode == 1
    answer = life.describe(name)
    assert (answer["TrainingJobStatus"], answer["FailureReason"][:19]) == ("Failed", "InternalServerError")
    assert worker.address in answer["Local"]["Explanation"]
    worker.start()
    assert life("recover").returncode == 0
    assert left(engines) == []


@pytest.mark.slow(2)
def test_engines_that_cannot_run_one_job(
    life: Life, engines: list[OwnEngine], make_engines: MakeEngines, unseen: Path
) -> None:
    manager, *workers = engines
    alone, elsewhere = make_engines("alone", "elsewhere").engines
    again = unseen / "again.sock"
    again.symlink_to(manager.address.removeprefix("unix://"))
    life.job_file("several-refused", "true", hosts=2)
    for chosen, error in (
        ([manager.address, alone.address], "not-in-swarm"),
        ([manager.address, elsewhere.address], "swarms-differ"),
        ([each.address for each in workers], "swarm-manager"),
        ([manager.address, f"unix://{again}"], "engine-twice"),
        ([manager.address, manager.address], "request-invalid"),
        ([manager.address, f"unix://{unseen}/none.sock"], "engine-unreachable"),
        ([manager.address, "no-such-context"], "engine-context"),
    ):
        flags = [word for address in chosen for word in ("--engine", address)]
        refused = life("run", "several-refused.json", *flags, "--json")
        assert json.loads(refused.stdout)["Error"]["Id"] == error, refused.stderr
    manager.docker("tag", life.image, "several-image:1")
    for pull, error in (("never", "image-missing"), ("missing", "image-differs")):
        flags = ["--image", "several-image:1", "--pull", pull]
        refused = life(
            "run", life.job_file("several-image", "true", hosts=2, **on(manager, workers[0])), *flags, "--json"
        )
        assert json.loads(refused.stdout)["Error"]["Id"] == error, refused.stderr
        workers[0].docker("import", "-", "several-image:1", stdin=bytes(10240))  # another image of the same name
    members = on(manager, workers[0], Memory="100000g")
    refused = life("run", life.job_file("several-memory", "true", hosts=2, **members), "--json")
    about = f"this is about the engine at {manager.address} and its machine (algo-1)"
    assert about in json.loads(refused.stdout)["Error"]["Details"], refused.stdout
    assert left([*engines, alone, elsewhere]) == []

import io
import json
import os
import subprocess
import tarfile
import threading
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import TypedDict

import pytest
from tests.kit.fixtures import unused_subnet

from smlocal.data.artifacts.model_folder import unpack_copy
from smlocal.data.artifacts.tree import walk
from smlocal.engine.docker import DockerEngine
from smlocal.engine.interface import JOB_LABEL, ContainerSpec, Mount, Resource, ResourceKind
from smlocal.errors import EngineError

Run = Callable[..., tuple[int, bytes]]
Spec = Callable[..., ContainerSpec]
ODD_NAMES = ["plain", "with space", "com,ma", "co:lon", "back\\slash", 'quo"te', "ünïcode", "a=b", "a%2Fb", "#hash"]


class Subnet(TypedDict):
    subnet: str
    gateway: str


def subnet() -> Subnet:
    """One that no job and no other test has."""
    found = unused_subnet("203.0.113.128/25")
    return {"subnet": found, "gateway": str(ip_network(found)[1])}


def overlay(lower: Path, upper: str, work: str) -> dict[str, str]:
    escaped = str(lower).replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
    return {"type": "overlay", "device": "overlay", "o": f"lowerdir={escaped},upperdir={upper},workdir={work}"}


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_overlay_volume_is_writable_and_leaves_the_lower_folder_alone(
    engine: DockerEngine, run: Run, job: str, tmp_path: Path, name: str
) -> None:
    lower = tmp_path / name
    lower.mkdir()
    (lower / "a").write_text("original\n")
    labels = {JOB_LABEL: job}
    upper, work = (engine.create_volume(f"{job}-{part}", labels, {}) for part in ("upper", "work"))
    engine.create_volume(f"{job}-view", labels, overlay(lower, upper, work))
    mounts = (Mount(source=f"{job}-view", target="/data", volume=True),)
    assert run("cat /data/a; echo changed > /data/a; cat /data/a; touch /data/b", mounts=mounts) == (
        0,
        b"original\nchanged\n",
    )
    assert (lower / "a").read_text() == "original\n"
    assert [entry.name for entry in lower.iterdir()] == ["a"]


def test_an_overlay_that_cannot_be_mounted_shows_at_the_start(
    engine: DockerEngine, spec: Spec, job: str, tmp_path: Path
) -> None:
    engine.create_volume(f"{job}-view", {JOB_LABEL: job}, overlay(tmp_path / "gone", "/nowhere", "/nowhere"))
    container = engine.create(spec(mounts=(Mount(source=f"{job}-view", target="/data", volume=True),)))
    with pytest.raises(EngineError, match="failed to mount local volume"):
        engine.start(container)


@pytest.mark.slow(1)
def test_peers_find_each_other_by_alias(engine: DockerEngine, spec: Spec, job: str) -> None:
    engine.create_network(f"{job}-net", {JOB_LABEL: job}, **subnet())
    first = engine.create(spec("sleep 600", network=f"{job}-net", aliases=("algo-1",)))
    second = engine.create(
        spec(
            "for i in $(seq 400); do nslookup algo-1 && exit 0; sleep 0.5; done; exit 1",
            network=f"{job}-net",
            aliases=("algo-2",),
            hostname="algo-2",
        )
    )
    engine.start(first)
    engine.start(second)
    assert engine.wait(second) == 0


def test_a_network_that_does_not_exist(engine: DockerEngine, spec: Spec) -> None:
    with pytest.raises(EngineError, match="not found"):
        engine.start(engine.create(spec(network="smlocal-never-made")))


def test_owned_tells_jobs_apart_and_keeps_the_order_of_removal(engine: DockerEngine, spec: Spec, job: str) -> None:
    labels = {JOB_LABEL: job, "smlocal.host": "algo-1"}
    engine.create_network(f"{job}-net", labels, **subnet())
    engine.create_volume(f"{job}-v", labels, {})
    container = engine.create(
        spec(
            "sleep 600",
            labels=labels,
            network=f"{job}-net",
            mounts=(Mount(source=f"{job}-v", target="/v", volume=True),),
        )
    )
    engine.start(container)
    owned = engine.owned(job)
    assert [resource.kind for resource in owned] == [
        ResourceKind.CONTAINER,
        ResourceKind.VOLUME,
        ResourceKind.NETWORK,
    ]
    assert owned[0].id == container
    assert all(resource.labels == labels for resource in owned)
    assert {resource.id for resource in owned} <= {resource.id for resource in engine.owned()}
    assert engine.owned(f"{job}-other") == []
    for resource in owned:
        engine.remove(resource)
        engine.remove(resource)  # what is gone already is fine
    assert engine.owned(job) == []


def test_two_may_remove_the_same_container(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("sleep 600"))
    engine.start(container)
    troubles: list[Exception] = []

    def remove() -> None:
        try:
            engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
        except EngineError as error:
            troubles.append(error)

    removers = [threading.Thread(target=remove) for _ in range(4)]
    for remover in removers:
        remover.start()
    for remover in removers:
        remover.join()
    assert troubles == []
    with pytest.raises(EngineError, match="No such container"):
        engine.state(container)


@pytest.mark.slow(4)
def test_a_container_may_be_removed_by_its_name_while_it_is_made(
    engine: DockerEngine, spec: Spec, job: str, import_image: Callable[..., str]
) -> None:
    image = import_image("smlocal-test-engine:volumes", f"VOLUME {json.dumps([f'/{each}' for each in range(8)])}")
    made: list[str] = []
    for number in range(20):
        name = f"{job}-{number}"
        maker = threading.Thread(target=lambda name=name: made.append(engine.create(spec(name=name, image=image))))
        maker.start()
        while maker.is_alive():
            engine.remove(Resource(kind=ResourceKind.CONTAINER, id=name))
        engine.remove(Resource(kind=ResourceKind.CONTAINER, id=name))
        assert engine.owned(job) == []
    assert len(made) == 20


def test_anonymous_volumes_go_with_their_container(
    engine: DockerEngine, spec: Spec, import_image: Callable[..., str]
) -> None:
    def volumes() -> set[str]:
        listed = subprocess.run(["docker", "volume", "ls", "-q"], check=True, capture_output=True, text=True)
        return set(listed.stdout.split())

    container = engine.create(spec(image=import_image("smlocal-test-engine:volume", "VOLUME /data")))
    inspected = subprocess.run(
        ["docker", "inspect", "-f", "{{range .Mounts}}{{.Name}}{{end}}", container],
        check=True,
        capture_output=True,
        text=True,
    )
    name = inspected.stdout.strip()
    assert name in volumes()
    engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    assert name not in volumes()


def test_a_volume_in_use_is_an_error(engine: DockerEngine, spec: Spec, job: str) -> None:
    engine.create_volume(f"{job}-v", {JOB_LABEL: job}, {})
    engine.create(spec(mounts=(Mount(source=f"{job}-v", target="/v", volume=True),)))
    with pytest.raises(EngineError, match="in use") as caught:
        engine.remove(Resource(kind=ResourceKind.VOLUME, id=f"{job}-v"))
    assert caught.value.status == 409


def test_archives_carry_owners_and_modes_both_ways(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("stat -c '%u:%g %a %s' /tmp/put/secret && chmod 0400 /tmp/put/secret"))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        folder = tarfile.TarInfo("put")
        folder.type, folder.mode, folder.uid, folder.gid = tarfile.DIRTYPE, 0o750, 1001, 1002
        archive.addfile(folder)
        file = tarfile.TarInfo("put/secret")
        file.mode, file.uid, file.gid, file.size = 0o640, 1003, 1004, 300_000
        archive.addfile(file, io.BytesIO(b"x" * 300_000))
    engine.put_archive(container, "/tmp", buffer.getvalue())
    output = engine.attach(container)
    engine.start(container)
    assert engine.wait(container) == 0
    assert b"".join(written.lines for written in output) == b"1003:1004 640 300000\n"
    packed = b"".join(engine.get_archive(container, "/tmp/put"))
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        got = {entry.name: (entry.mode & 0o7777, entry.uid, entry.gid, entry.size) for entry in archive}
    assert got == {"put": (0o750, 1001, 1002, 0), "put/secret": (0o400, 1003, 1004, 300_000)}


def test_directory_entries_alone_hand_folders_back(engine: DockerEngine, run: Run, spec: Spec, tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    mounts = (Mount(source=str(model), target="/opt/ml/model"),)
    assert run("mkdir -m 700 /opt/ml/model/deep && touch /opt/ml/model/deep/file", mounts=mounts)[0] == 0
    container = engine.create(spec(mounts=mounts))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        folder = tarfile.TarInfo("deep")
        folder.type, folder.mode, folder.uid, folder.gid = tarfile.DIRTYPE, 0o755, 4321, 4321
        archive.addfile(folder)
    engine.put_archive(container, "/opt/ml/model", buffer.getvalue())
    assert (model / "deep").stat().st_uid == 4321
    assert (model / "deep" / "file").stat().st_uid == 0


def test_an_archive_of_a_mounted_folder_is_its_tree(engine: DockerEngine, spec: Spec, tmp_path: Path) -> None:
    model = tmp_path / "model"
    (model / "deep").mkdir(parents=True)
    (model / "deep" / "file").write_bytes(b"x" * 300_000)
    os.link(model / "deep" / "file", model / "same")
    (model / "link").symlink_to("deep/file")
    container = engine.create(spec(mounts=(Mount(source=str(model), target="/opt/ml/model"),)))
    fetched = unpack_copy("algo-1", engine.get_archive(container, "/opt/ml/model"), str(tmp_path / "spool"))
    assert fetched.skipped == ()
    assert [(entry.path, entry.mode, entry.size, entry.target) for entry in fetched.entries] == [
        (entry.path, entry.mode, entry.size, entry.target) for entry in walk("algo-1", str(model)).entries
    ]


def test_an_archive_of_nothing(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec())
    with pytest.raises(EngineError, match="Could not find the file /no/such") as caught:
        list(engine.get_archive(container, "/no/such"))
    assert caught.value.status == 404
    with pytest.raises(EngineError):
        engine.put_archive(container, "/no/such", b"")


def test_an_archive_may_be_left_half_read(engine: DockerEngine, run: Run, spec: Spec, tmp_path: Path) -> None:
    mounts = (Mount(source=str(tmp_path), target="/data"),)
    assert run("dd if=/dev/zero of=/data/zeros bs=1M count=20 2>/dev/null", mounts=mounts)[0] == 0
    pieces = engine.get_archive(engine.create(spec(mounts=mounts)), "/data")
    assert next(pieces)
    pieces.close()
    assert os.path.getsize(tmp_path / "zeros") == 20 * 1024 * 1024

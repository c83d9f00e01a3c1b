"""smlocal's engine in a place like SageMaker Studio: what it asks, what it does in another way, what it refuses."""

import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kit.studio_engine import NETWORK, NOT_ALLOWED, StudioPlace

from smlocal.data.artifacts.ownership import ownership_archive
from smlocal.engine.client import Client
from smlocal.engine.containers import idle_spec
from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import EngineAddress, find_endpoint
from smlocal.engine.facts import Place
from smlocal.engine.interface import JOB_LABEL, ContainerSpec, Mount, Resource, ResourceKind
from smlocal.engine.place_engine import PlaceEngine
from smlocal.errors import EngineError, EngineLostError, EngineUnreachableError, PlaceRefusedError
from smlocal.terms.limits import Limits

pytestmark = [pytest.mark.engine, pytest.mark.slow(8, together=True)]

_PLACE = Place(app="CodeEditor")


@pytest.fixture
def engine(place: StudioPlace, monkeypatch: pytest.MonkeyPatch) -> PlaceEngine:
    """As in the place, on this machine, which has no file that says so."""
    monkeypatch.setattr("smlocal.engine.client.place_here", lambda: _PLACE)
    return PlaceEngine(EngineAddress(address=f"unix://{place.engine.path}", path=str(place.engine.path)), _PLACE)


@pytest.fixture
def spec(place: StudioPlace, image: Callable[[str | Path], str]) -> Callable[..., ContainerSpec]:
    """A container with a mount and everything that the network of the place excludes."""
    folder = place.home / "folder"
    folder.mkdir()

    def make(script: str, **more: object) -> ContainerSpec:
        given: dict[str, object] = {
            "mounts": (Mount(source=str(folder), target="/folder"),),
            "extra_hosts": {"algo-2": "10.0.0.2"},
            "name_servers": ("127.0.0.1",),
            "aliases": ("algo-1",),
            "ports": (5678,),
            "published": {8080: 8080},
            "behind_others": True,
            "limits": Limits(memory=64 << 20, shared_memory=1 << 20),
            **more,
        }
        return ContainerSpec(
            name="",
            image=image("sh"),
            labels={JOB_LABEL: "place"},
            entrypoint=("sh", "-c", script),
            command=(),
            environment={"A": "b"},
            hostname="algo-1",
            **given,  # type: ignore[arg-type]  # a table of members
        )

    return make


def test_a_container_begins_ends_and_is_removed(
    place: StudioPlace, engine: PlaceEngine, spec: Callable[..., ContainerSpec]
) -> None:
    facts, usual = engine.facts(), DockerEngine(find_endpoint()).facts()
    assert (facts.place, facts.product, facts.local, facts.shares_folders) == (_PLACE, "docker", True, True)
    assert (facts.version, facts.architecture) == (usual.version, usual.architecture)
    container = engine.create(spec("echo out; echo err >&2; echo $A > /folder/a; exit 3"))
    output = engine.attach(container)
    engine.start(container)
    assert engine.wait(container) == 3
    assert sorted(b"".join(each.lines for each in output).splitlines()) == [b"err", b"out"]
    assert sorted(line for _, line in engine.logs(container)) == [b"err\n", b"out\n"]
    assert engine.state(container).exit_code == 3
    assert engine.addresses(container) == ()
    assert (place.home / "folder" / "a").read_text() == "b\n"
    assert [each.id for each in engine.owned("place") if each.id in place.left()] == [container]
    place.assert_nothing_refused()
    place.engine.refuse("volumes")  # jobs make none there
    assert [each.id for each in engine.owned("place") if each.id in place.left()] == [container]
    engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    assert place.left() == []


def test_a_container_is_stopped_where_it_cannot_be_killed(
    place: StudioPlace, engine: PlaceEngine, spec: Callable[..., ContainerSpec]
) -> None:
    container = engine.create(spec("sleep 1000"))
    engine.start(container)
    place.engine.refuse("/kill")
    with pytest.raises(PlaceRefusedError):
        engine.signal(container, "SIGTERM")
    engine.signal(container, "SIGKILL")
    assert engine.wait(container) in {137, 143}
    engine.signal(container, "SIGKILL")  # it has ended
    engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    engine.signal(container, "SIGKILL")
    assert place.left() == []


def test_files_of_mounts_go_in_and_out_by_tar(
    place: StudioPlace, engine: PlaceEngine, spec: Callable[..., ContainerSpec]
) -> None:
    folder = place.home / "folder"
    container = engine.create(spec("mkdir -m 700 /folder/deep; echo a > /folder/deep/a; echo b > /b"))
    # Before the start, what the image has can be read as well.
    assert "train" in _names(engine.get_archive(container, "/usr/local/bin/train"))
    engine.start(container)
    assert engine.wait(container) == 0

    big = os.urandom(5 << 20)
    entries = [("folder/deep", 0o755, None), ("folder/big", 0o600, big)]
    engine.put_archive(container, "/", iter((ownership_archive(entries, uid=1234, gid=100),)))

    assert (folder / "deep").stat().st_uid == (folder / "big").stat().st_uid == 1234
    assert (folder / "big").read_bytes() == big
    assert set(_names(engine.get_archive(container, "/folder"))) == {
        "folder",
        "folder/deep",
        "folder/deep/a",
        "folder/big",
    }
    with pytest.raises(EngineError) as missing:
        list(engine.get_archive(container, "/folder/missing"))
    assert missing.value.status == 404
    with pytest.raises(PlaceRefusedError, match="the files of a container that has begun, such as /b"):
        list(engine.get_archive(container, "/b"))
    assert place.left() == [container]
    engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    place.assert_nothing_refused()


def _names(archive: Iterator[bytes]) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(b"".join(archive))) as file:
        return file.getnames()


def test_mounts_are_those_that_were_asked_for(
    place_of: Callable[..., StudioPlace], image: Callable[[str | Path], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the place calls folders otherwise when it tells of a container."""
    monkeypatch.setattr("smlocal.engine.client.place_here", lambda: _PLACE)
    place = place_of(there=Path("/home/me"))
    engine = PlaceEngine(EngineAddress(address=f"unix://{place.engine.path}", path=str(place.engine.path)), _PLACE)
    (place.home / "a").write_text("a")
    mounts = (Mount(source="/home/me", target="/folder"),)
    container = engine.create(idle_spec(image("sh"), {JOB_LABEL: "place"}, mounts=mounts))
    assert "folder/a" in _names(engine.get_archive(container, "/folder"))
    assert engine.origin(container).mounts == mounts
    place.assert_nothing_refused()


def test_what_is_not_known_to_be_allowed_is_not_asked(
    place: StudioPlace, engine: PlaceEngine, spec: Callable[..., ContainerSpec]
) -> None:
    calls: list[Callable[[], object]] = [
        lambda: engine.statistics("x"),
        lambda: engine.processes("x"),
        lambda: engine.changes("x"),
        lambda: engine.history("x"),
        lambda: engine.execute("x", ["true"], terminal=False),
        lambda: engine.commit("x", ("a", "b")),
        lambda: engine.save("x"),
        lambda: engine.load([]),
        engine.swarm_member,
        lambda: engine.create_network("x", {}, subnet="10.0.0.0/24", gateway="10.0.0.1"),
        lambda: engine.create(spec("", network="none")),
        lambda: engine.create(spec("", joined=("other",))),
    ]
    for call in calls:
        with pytest.raises(
            PlaceRefusedError, match=r"SageMaker Studio refuses .*: it is not known to be allowed there"
        ):
            call()
    assert (engine.networks(), engine.began(), engine.cdi_gpus(), engine.cannot_limit()) == ([], "", None, ())
    assert not engine.has_our_mounts()
    assert set(place.engine.calls) == {"GET /version"}
    place.assert_nothing_refused()


def test_the_words_of_the_place_are_told(engine: PlaceEngine) -> None:
    with pytest.raises(PlaceRefusedError) as refused:
        engine.client.read("/info")
    assert refused.value.sentence == f"SageMaker Studio refuses GET /info: {NOT_ALLOWED}"
    assert refused.value.status == 403
    with pytest.raises(PlaceRefusedError, match=NETWORK.replace("[", r"\[").replace("]", r"\]")):
        engine.client.post("/containers/create", {"HostConfig": {"NetworkMode": "bridge"}})


def test_the_first_call_has_a_version_and_may_be_refused(place: StudioPlace, engine: PlaceEngine) -> None:
    """It is not known which call the place answers first."""
    place.engine.refuse("GET /(version|_ping)")
    assert engine.facts().product == "docker"
    assert place.engine.calls == ["GET /containers/json"]
    engine.client._heard_at = 0.0
    engine.client.check()
    place.engine.close()
    with pytest.raises(EngineLostError):
        engine.owned()


def test_an_engine_that_is_gone_is_named(place: StudioPlace, engine: PlaceEngine) -> None:
    place.engine.refuse("GET")
    client = Client(engine.client.endpoint)
    with pytest.raises(EngineUnreachableError) as error:
        client.greet()
    assert NOT_ALLOWED in str(error.value.details)

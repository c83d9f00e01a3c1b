"""The engine of a place that restricts it: only calls that are known to be allowed are made.

What a call would tell is found out in another way, or left out where a method may say that it is not known; else
`PlaceRefusedError` says so before anything is sent. Archives of a container's files are not known to pass, so `tar` in
a container of the same image with the same mounts reads and writes them.
"""

import json
import posixpath
import select
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Never

from smlocal.engine.docker import DockerEngine
from smlocal.engine.documents import container_state
from smlocal.engine.endpoint import EngineAddress
from smlocal.engine.facts import Place
from smlocal.engine.http import Call
from smlocal.engine.interface import (
    JOB_LABEL,
    RUN_LABEL,
    ContainerOrigin,
    ContainerSpec,
    ContainerState,
    Mount,
    Network,
    Resource,
    ResourceKind,
)
from smlocal.errors import EngineError, PlaceRefusedError

if TYPE_CHECKING:
    from smlocal.engine.output import ProcessConnection

_UNKNOWN: Final = "it is not known to be allowed there"
_NO_TAR: Final = f"{_UNKNOWN}, and the image has no tar"
_HERE: Final = "127.0.0.1"
_DROPPED: Final = ("CapDrop", "Dns", "ExtraHosts", "LogConfig", "OomScoreAdj", "PortBindings", "Runtime", "SecurityOpt")
"""Members of a HostConfig that a shared network namespace excludes, or of which it is not known whether they pass."""
_TAR: Final = "tar"
_KILL: Final = "SIGKILL"
_UNCHANGED, _ABSENT, _FAILED = 304, 404, 500
_MISSING: Final = b"No such file"
_PIECE = 1 << 16
_SECONDS: Final = 600.0
"""No archive makes us wait longer for its next piece."""


def _refusal(what: str) -> Callable[..., Never]:
    """A method that raises the error for something that is not even asked."""

    def refuse(engine: "PlaceEngine", *_: object, **__: object) -> Never:
        raise engine.client.refused(what, _UNKNOWN)

    return refuse


class PlaceEngine(DockerEngine):
    """May be used by several threads at once."""

    def __init__(self, endpoint: EngineAddress, place: Place) -> None:
        """Store the address; nothing is sent yet."""
        super().__init__(endpoint)
        self.place = place
        self._mounts: dict[str, tuple[Mount, ...]] = {}
        """By container. The place may call folders otherwise than smlocal does, and say so of containers."""

    create_network = _refusal("a network of its own")
    swarm_member = _refusal("to join several engines")
    statistics = _refusal("to measure a container")
    processes = _refusal("the list of a container's processes")
    changes = _refusal("the list of files that a container has changed")
    history = _refusal("the history of an image")
    execute = _refusal("a command in a running container")
    commit = _refusal("an image of a container")
    save = _refusal("the archive of an image")
    load = _refusal("an image from an archive")

    def document(self, spec: ContainerSpec) -> dict[str, Any]:
        """As for any engine, without what the shared network excludes: names of hosts, ports, addresses, DNS."""
        if spec.network not in {None, self.place.network} or spec.joined:
            raise self.client.refused(f"the network {', '.join((spec.network or '', *spec.joined))}", _UNKNOWN)
        return restricted(super().document(spec), spec.mounts, self.place.network)

    def create(self, spec: ContainerSpec) -> str:
        """Make a container, and remember its mounts."""
        container = super().create(spec)
        self._mounts[container] = spec.mounts
        return container

    def origin(self, container: str) -> ContainerOrigin:
        """Inspect a container."""
        origin = super().origin(container)
        return replace(origin, mounts=self._mounts.get(container, origin.mounts))

    def signal(self, container: str, signal: str) -> None:
        """Send a signal to PID 1. If the place refuses that, it may let a container be stopped."""
        try:
            super().signal(container, signal)
        except PlaceRefusedError:
            if signal != _KILL:
                raise
            path = f"/containers/{container}/stop"
            self.client.tell("POST", path, parameters={"t": "0"}, fine={_UNCHANGED, _ABSENT}, call=Call.ACTION)

    def remove(self, resource: Resource) -> None:
        """Remove by force."""
        super().remove(resource)
        self._mounts.pop(resource.id, None)

    def owned(self, job: str | None = None) -> list[Resource]:
        """Containers and volumes: networks cannot be made here, so there are none, nor volumes if it refuses those."""
        label = JOB_LABEL if job is None else f"{JOB_LABEL}={job}"
        parameters = {"filters": json.dumps({"label": [label]})}
        containers = self.client.read("/containers/json", parameters={"all": "1", **parameters})
        volumes: Any = ()
        with suppress(PlaceRefusedError):
            volumes = self.client.read("/volumes", parameters=parameters)["Volumes"]
        return [
            *(_resource(ResourceKind.CONTAINER, each, "Id") for each in containers or ()),
            *(_resource(ResourceKind.VOLUME, each, "Name") for each in volumes or ()),
        ]

    def networks(self) -> list[Network]:
        """None that could be listed or chosen."""
        return []

    def addresses(self, container: str) -> tuple[str, ...]:
        """Those of smlocal itself."""
        return (_HERE,) if self.state(container).status == "running" else ()

    def state(self, container: str) -> ContainerState:
        """Inspect a container. The engine's events, which may know more of its memory, are not asked for."""
        return container_state(self._inspect(container))

    def began(self) -> str:
        """Not known."""
        return ""

    def has_our_mounts(self) -> bool:
        """Only the folders below the home are known to be the same."""
        return False

    def cdi_gpus(self) -> tuple[str, ...] | None:
        """GPUs are asked for as `docker run --gpus` does."""
        return None

    def plain_runtime(self) -> str | None:
        """Which runtimes there are is not known; the usual one it is."""
        return ""

    def cannot_limit(self) -> tuple[str, ...]:
        """A limit that the engine does not take is an error at the start of the container."""
        return ()

    def get_archive(
        self,
        container: str,
        path: str,
        *,
        small: bool = False,  # noqa: ARG002  as in the interface
    ) -> Generator[bytes, None, None]:
        """Have `tar` read the same mount, or the image before the start. What was written elsewhere is out of reach."""
        origin = self.origin(container)
        if not _is_in(path, origin.mounts) and self.state(container).status != "created":
            raise self.client.refused(f"the files of a container that has begun, such as {path}", _UNKNOWN)
        folder, name = posixpath.split(path.rstrip("/"))
        if not name:
            raise self.client.refused("all files of a container", _UNKNOWN)
        yield from self._tar(container, origin, ("-C", folder, "-cf", "-", "--", name))

    def put_archive(
        self,
        container: str,
        path: str,
        data: bytes | Iterable[bytes],
        *,
        small: bool = False,  # noqa: ARG002  as in the interface
    ) -> None:
        """Have `tar` write into the mounts of the container; what is outside of them does not arrive."""
        origin = self.origin(container)
        pieces = (data,) if isinstance(data, bytes) else data
        for _ in self._tar(container, origin, ("-C", path, "-xpf", "-"), pieces):
            pass

    def _tar(
        self, container: str, origin: ContainerOrigin, command: Sequence[str], data: Iterable[bytes] = ()
    ) -> Generator[bytes, None, None]:
        """Run it as root in a container like this one; yields its output."""
        given = self._inspect(container)["Config"].get("Labels") or {}
        spec = ContainerSpec(
            name="",
            image=origin.image,
            labels={key: value for key, value in given.items() if key in {JOB_LABEL, RUN_LABEL}},
            entrypoint=(_TAR,),
            command=tuple(command),
            environment={},
            hostname="",
            user="0",
            mounts=origin.mounts,
            standard_input=True,
        )
        helper = self.create(spec)
        try:
            with closing(self.attach_streams(helper, terminal=False)) as streams:
                self._start_tar(helper)
                said: list[bytes] = []
                yield from _transferred(streams, iter(data), said.append)
                code = streams.exit_code()
        finally:
            self.remove(Resource(kind=ResourceKind.CONTAINER, id=helper))
        if code != 0:
            words = b"".join(said)
            status = _ABSENT if _MISSING in words else _FAILED
            raise EngineError(words.decode(errors="replace").strip() or f"tar ended with {code}", status=status)

    def _start_tar(self, helper: str) -> None:
        try:
            self.start(helper)
        except EngineError as error:
            if error.is_of_runtime:
                raise self.client.refused("archives of a container's files", _NO_TAR) from error
            raise


def restricted(document: dict[str, Any], mounts: Sequence[Mount], network: str) -> dict[str, Any]:
    """The document of a container that shares the only network. Folders are mounted in the way of docker compose.

    Compose is known to pass, and mounts folders by `Binds`; a path with a colon cannot be one.
    """
    host = {key: value for key, value in document["HostConfig"].items() if key not in _DROPPED}
    if not any(":" in mount.source or ":" in mount.target for mount in mounts):
        del host["Mounts"]
        host["Binds"] = [_bind(mount) for mount in mounts]
    host["NetworkMode"] = network
    dropped = {"ExposedPorts", "HostConfig", "Hostname", "NetworkingConfig"}
    return {**{key: value for key, value in document.items() if key not in dropped}, "HostConfig": host}


def _bind(mount: Mount) -> str:
    options = [*(("nocopy",) if mount.volume else ()), *(("ro",) if mount.read_only else ())]
    return ":".join((mount.source, mount.target, *((",".join(options),) if options else ())))


def _resource(kind: ResourceKind, document: Mapping[str, Any], key: str) -> Resource:
    return Resource(kind=kind, id=document[key], labels=document.get("Labels") or {})


def _is_in(path: str, mounts: Iterable[Mount]) -> bool:
    return any(f"{path}/".startswith(f"{mount.target.rstrip('/')}/") for mount in mounts)


def _transferred(
    streams: "ProcessConnection", data: Iterator[bytes], complain: Callable[[bytes], None]
) -> Iterator[bytes]:
    """Send the data to standard input, and yield what comes back, until both streams have ended."""
    pending: bytes | None = next(data, None)
    if pending is None:
        streams.end_input()
    while True:
        writable = [] if pending is None else [streams]
        ready, free, _ = select.select([streams], writable, [], _SECONDS)
        if not ready and not free:
            raise EngineError(f"tar gave no answer within {_SECONDS:.0f} s")
        if ready:
            pieces = streams.read()
            if pieces is None:
                return
            for stream, piece in pieces:
                if stream == 1:
                    yield piece
                else:
                    complain(piece)
        if free and pending is not None:
            pending = pending[streams.write(pending[:_PIECE]) :] or next(data, None)
            if pending is None:
                streams.end_input()

"""The Docker engine, through its HTTP API; implements `interface.Engine`."""

import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar, cast

from smlocal.base.at_use import at_use
from smlocal.base.regex import regex
from smlocal.engine import podman
from smlocal.engine.client import Client
from smlocal.engine.containers import probe
from smlocal.engine.documents import (
    container_document,
    container_origin,
    container_state,
    image_facts,
    killed_for_memory,
    ran_out_of_memory,
    read_statistics,
    wait_for_end,
)
from smlocal.engine.endpoint import EngineAddress
from smlocal.engine.engine_facts import cannot_limit, cdi_gpus, engine_facts, has_our_mounts, plain_runtime
from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.engine.http import Call, quote
from smlocal.engine.interface import (
    JOB_LABEL,
    ContainerOrigin,
    ContainerProcess,
    ContainerSpec,
    ContainerState,
    Network,
    PullState,
    RegistryLogin,
    Resource,
    ResourceKind,
    Statistics,
    SwarmMember,
)
from smlocal.engine.output import AttachedOutput, attach_streams, execute, timestamped_lines
from smlocal.errors import EngineError, EngineLostError, EngineNameInUseError
from smlocal.terms.gpus import GpuDevices
from smlocal.terms.limits import Limits

if TYPE_CHECKING:
    from smlocal.engine import networks as of_networks
    from smlocal.engine.inspection import DiskRoom
    from smlocal.engine.output import ProcessConnection
else:  # only jobs with several hosts have a network
    of_networks = at_use("smlocal.engine.networks")

_ABSENT = 404
_CONFLICT = 409
_STARTED: Final = {204, 304}
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def _checked_answer(
    method: "Callable[Concatenate[DockerEngine, _Given], _Result]",
) -> "Callable[Concatenate[DockerEngine, _Given], _Result]":
    """Turn the exceptions for a missing or wrong member of an answer into an engine error."""

    @wraps(method)
    def call(self: "DockerEngine", *given: _Given.args, **named: _Given.kwargs) -> _Result:
        try:
            return method(self, *given, **named)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise self.client.unexpected(method.__name__, f"{type(error).__name__}: {error}") from error

    return cast("Callable[Concatenate[DockerEngine, _Given], _Result]", call)


class DockerEngine:
    """May be used by several threads at once."""

    def __init__(self, endpoint: EngineAddress) -> None:
        """Store the address; nothing is sent yet."""
        self.client = Client(endpoint)
        self._killed: set[str] = set()

    @_checked_answer
    def facts(self) -> EngineFacts:
        """Ask the engine what it is."""
        return engine_facts(self.client)

    def has_our_mounts(self) -> bool:
        """Look at the process that listens at the socket."""
        return has_our_mounts(self.client.endpoint)

    def docker_command(self) -> tuple[str, ...]:
        """As the engine was named."""
        return self.client.endpoint.docker_command

    @_checked_answer
    def image(self, name: str) -> ImageFacts | None:
        """Inspect an image by name or id."""

        def look() -> ImageFacts | None:
            with self.client.ask("GET", f"/images/{quote(name)}/json", fine={_ABSENT}) as answer:
                document = answer.json()
                return None if answer.status == _ABSENT else image_facts(document)

        return podman.beside_removals(look)

    def save(self, image: str) -> Generator[bytes, None, None]:
        """Stream a tar. Docker first writes it to its disk, which takes a minute for a large image."""
        with self.client.ask("GET", f"/images/{quote(image)}/get", call=Call.STREAM) as answer:
            yield from answer.pieces()

    def load(self, archive: Iterable[bytes]) -> None:
        """Send a tar. The answer is a stream of messages; an error is one of them."""
        headers = {"Content-Type": "application/x-tar"}
        with self.client.ask(
            "POST", "/images/load", parameters={"quiet": "1"}, data=archive, headers=headers, call=Call.STREAM
        ) as answer:
            for line in b"".join(answer.pieces()).splitlines():
                if trouble := json.loads(line).get("error"):
                    raise EngineError(str(trouble))

    @_checked_answer
    def history(self, image: str) -> tuple[str, ...]:
        """Reverse Docker's order, which is newest first."""
        return tuple(
            str(step.get("CreatedBy") or "") for step in reversed(self.client.read(f"/images/{quote(image)}/history"))
        )

    def pull(
        self,
        name: str,
        login: RegistryLogin | None,
        progress: Callable[[str], None],
        working: Callable[[PullState], None] = lambda _: None,
    ) -> None:
        """Pull an image."""
        from smlocal.engine.pull import pull  # most runs do not pull

        pull(self.client, name, login, progress, working)

    @_checked_answer
    def disk_room(self) -> "DiskRoom | None":
        """Ask where its folder is."""
        from smlocal.engine.inspection import disk_room

        return disk_room(self.client)

    @_checked_answer
    def create_volume(self, name: str, labels: Mapping[str, str], options: Mapping[str, str]) -> str:
        """Make a volume. Options that do not work cause an error only at the start of a container that uses it."""
        document = {"Name": name, "Driver": "local", "DriverOpts": dict(options), "Labels": dict(labels)}
        return str(self.client.post("/volumes/create", document)["Mountpoint"])

    @_checked_answer
    def create_network(
        self,
        name: str,
        labels: Mapping[str, str],
        *,
        subnet: str,
        gateway: str,
        isolated: bool = False,
        reached: bool = False,
        overlay: bool = False,
    ) -> None:
        """Create a bridge or an overlay."""
        of_networks.create_network(
            self.client,
            name,
            labels,
            subnet=subnet,
            gateway=gateway,
            isolated=isolated,
            reached=reached,
            overlay=overlay,
        )

    @_checked_answer
    def swarm_member(self) -> SwarmMember:
        """Read `/info`, and of a manager the list of nodes."""
        return of_networks.read_member(self.client)

    @_checked_answer
    def networks(self) -> list[Network]:
        """List all networks."""
        return of_networks.networks(self.client)

    @_checked_answer
    def create(self, spec: ContainerSpec) -> str:
        """Make a container. The source of a bind mount must exist."""
        if self.client.product == "podman":
            spec = podman.with_gateway(self.client, spec)
        document = self.document(spec)
        try:
            answer = self.client.post("/containers/create", document, parameters={"name": spec.name})
        except EngineError as error:
            if error.status == _CONFLICT or podman.is_name_in_use(error):
                raise EngineNameInUseError(error.sentence, status=error.status) from error
            raise
        container = str(answer["Id"])
        if spec.joined:
            of_networks.join_networks(self.client, container, spec.joined)
        return container

    def document(self, spec: ContainerSpec) -> dict[str, Any]:
        """The body of a request that creates this container."""
        return container_document(spec, self.client.product)

    def attach(self, container: str) -> AttachedOutput:
        """Attach to both streams."""
        parameters = {"stream": "1", "stdout": "1", "stderr": "1"}
        with self._with_docker_errors():
            return AttachedOutput(self.client.attach(f"/containers/{container}/attach", parameters=parameters))

    def attach_streams(self, container: str, *, terminal: bool) -> "ProcessConnection":
        """Attach to all three streams."""
        with self._with_docker_errors():
            return attach_streams(self.client, container, self.wait, terminal=terminal)

    @_checked_answer
    def execute(self, container: str, command: Sequence[str], *, terminal: bool) -> "ProcessConnection":
        """Make an exec and start it on a connection of its own."""
        return execute(self.client, container, command, terminal=terminal)

    @_checked_answer
    def origin(self, container: str) -> ContainerOrigin:
        """Inspect a container."""
        return container_origin(self._inspect(container))

    @_checked_answer
    def commit(self, container: str, label: tuple[str, str]) -> str:
        """Commit a container without a pause."""
        parameters = {"container": container, "pause": "0", "changes": f"LABEL {'='.join(label)}"}
        return str(self.client.post("/commit", {}, parameters=parameters)["Id"])

    @_checked_answer
    def image_names(self) -> list[str]:
        """List the names of all images; untagged images have none."""
        found = self.client.read("/images/json") or ()
        return [name for each in found for name in each.get("RepoTags") or () if name != "<none>:<none>"]

    @_checked_answer
    def images(self, job: str) -> list[Resource]:
        """List by label."""
        parameters = {"filters": json.dumps({"label": [f"{JOB_LABEL}={job}"]})}
        return _resources(ResourceKind.IMAGE, self.client.read("/images/json", parameters=parameters), "Id")

    def logs(self, container: str) -> Iterator[tuple[float | None, bytes]]:
        """Read the engine's copy of the output, without following it, which loses lines."""
        parameters = {"stdout": "1", "stderr": "1", "timestamps": "1"}
        path = f"/containers/{container}/logs"
        with self.client.ask("GET", path, parameters=parameters, call=Call.STREAM) as answer:
            yield from timestamped_lines(answer.pieces(), docker=self.client.product == "docker")

    def start(self, container: str) -> None:
        """Start a container; no error if it is running."""
        try:
            with self._with_docker_errors():
                status = self.client.tell("POST", f"/containers/{container}/start", call=Call.ACTION)
        except EngineError as error:
            if "network" not in error.sentence:
                raise
            if better := of_networks.attachment_error(error):
                raise better from error
            raise
        if status not in _STARTED:  # otherwise `wait` would never return
            raise self.client.unexpected("start", f"status {status}")

    @_checked_answer
    def wait(self, container: str) -> int:
        """Wait for the end; may be called before or after the start."""
        return wait_for_end(self.client, container, self.state)

    @_checked_answer
    def state(self, container: str) -> ContainerState:
        """Inspect a container. If it failed, find out whether memory ran out."""
        state = container_state(self._inspect(container))
        if state.status != "exited" or not state.exit_code or state.oom_killed:
            return state
        by_us = container in self._killed
        killed = self.client.endpoint.local and not by_us and killed_for_memory(container)
        if not killed and self.client.product != "podman":
            killed = ran_out_of_memory(self.client, container, state, killed_by_us=by_us)
        return replace(state, oom_killed=killed)

    @_checked_answer
    def processes(self, container: str) -> tuple[ContainerProcess, ...]:
        """Have `ps` of the engine's machine list them, in the order in which they were started."""
        if self.client.product == "podman":
            return podman.processes(int(self._inspect(container)["State"]["Pid"]))
        parameters = {"ps_args": "-eo pid,ppid,caught,comm"}
        rows = self.client.read(f"/containers/{container}/top", parameters=parameters)["Processes"] or ()
        here = {row[0] for row in rows}
        # The first process is the one whose parent is not in the container.
        rows = sorted(rows, key=lambda row: row[1] in here)
        return tuple(ContainerProcess(name=name, caught=int(caught, 16)) for _, _, caught, name in rows)

    @_checked_answer
    def changes(self, container: str, *, soon: bool = False) -> tuple[str, ...]:
        """Ask for the differences to the image: 0.2 s for one of 120 MB, 1.4 s for one of 2 GB."""
        call = Call.GLANCE if soon else Call.QUESTION
        return tuple(each["Path"] for each in self.client.read(f"/containers/{container}/changes", call=call) or ())

    @_checked_answer
    def written_bytes(self, container: str) -> int:
        """Ask for the size of the container's layer, a millisecond whatever the image."""
        path = f"/containers/{container}/json"
        return int(self.client.read(path, parameters={"size": "true"}, call=Call.GLANCE).get("SizeRw") or 0)

    @_checked_answer
    def addresses(self, container: str) -> tuple[str, ...]:
        """Read the addresses from the container's networks."""
        networks = (self._inspect(container).get("NetworkSettings") or {}).get("Networks") or {}
        return tuple(network["IPAddress"] for network in networks.values() if network.get("IPAddress"))

    def _inspect(self, container: str) -> dict[str, Any]:
        path = f"/containers/{container}/json"
        if self.client.product == "podman":
            return podman.inspect(self.client, path)
        document: dict[str, Any] = self.client.read(path)
        return document

    @_checked_answer
    def statistics(self, container: str) -> Statistics | None:
        """Ask once. A stream would make the engine measure every second.

        Docker 20.10 answers within a second. Older ones do not know `one-shot` and take two.
        """
        parameters = {"stream": "false", "one-shot": "true"}
        document = self.client.read(f"/containers/{container}/stats", parameters=parameters)
        return None if document is None else read_statistics(document)  # null: Podman, of a container that has ended

    @_checked_answer
    def began(self) -> str:
        """Return when the default network was made: a start of Docker that ends the containers makes a new one."""
        if self.client.product == "podman":
            return ""  # its containers do not depend on the service
        try:
            return str(self.client.read("/networks/bridge")["Created"])
        except EngineLostError:
            raise
        except EngineError:  # an engine without a default network
            return ""

    def signal(self, container: str, signal: str) -> None:
        """Send a signal to PID 1."""
        if signal == "SIGKILL":
            self._killed.add(container)
        path = f"/containers/{container}/kill"
        try:
            self.client.tell("POST", path, parameters={"signal": signal}, fine={_ABSENT, _CONFLICT})
        except EngineError as error:
            if not podman.is_not_running(error):
                raise

    def get_archive(self, container: str, path: str, *, small: bool = False) -> Generator[bytes, None, None]:
        """Stream a tar. Errors are raised with the first piece."""
        target, call = f"/containers/{container}/archive", Call.ACTION if small else Call.STREAM
        with self.client.ask("GET", target, parameters={"path": path}, call=call) as answer:
            yield from answer.pieces()

    def put_archive(self, container: str, path: str, data: bytes | Iterable[bytes], *, small: bool = False) -> None:
        """Unpack a tar below `path`, which must exist."""
        headers = {"Content-Type": "application/x-tar"}
        target, call = f"/containers/{container}/archive", Call.ACTION if small else Call.STREAM
        self.client.tell("PUT", target, parameters={"path": path}, data=data, headers=headers, call=call)

    @_checked_answer
    def remove(self, resource: Resource) -> None:
        """Remove by force."""
        is_on_podman = resource.kind is ResourceKind.CONTAINER and self.client.product == "podman"
        if not is_on_podman or podman.may_be_removed(self.client, resource.id):
            remove(self.client, resource)

    @_checked_answer
    def owned(self, job: str | None = None) -> list[Resource]:
        """List by label."""
        label = JOB_LABEL if job is None else f"{JOB_LABEL}={job}"
        parameters = {"filters": json.dumps({"label": [label]})}
        containers = self.client.read("/containers/json", parameters={"all": "1", **parameters})
        volumes = self.client.read("/volumes", parameters=parameters)["Volumes"]
        networks = of_networks.list_networks(self.client, parameters)
        return [
            *_resources(ResourceKind.CONTAINER, containers, "Id"),
            *_resources(ResourceKind.VOLUME, volumes, "Name"),
            *_resources(ResourceKind.NETWORK, networks, "Id"),
        ]

    @_checked_answer
    def cdi_gpus(self) -> tuple[str, ...] | None:
        """Read `/info`, which takes 6 ms."""
        info = self.client.read("/info")
        if self.client.product == "podman":
            info["CDISpecDirs"] = podman.cdi_folders(info.get("ServerVersion") or "")
        return cdi_gpus(info, local=self.client.endpoint.local)

    @_checked_answer
    def plain_runtime(self) -> str | None:
        """Read `/info`; of Podman also its hooks."""
        return plain_runtime(self.client.read("/info"), self.client.product, local=self.client.endpoint.local)

    @_checked_answer
    def cannot_limit(self) -> tuple[str, ...]:
        """Read `/info`."""
        return cannot_limit(self.client.read("/info"))

    @_checked_answer
    def probe(
        self,
        image: str,
        labels: Mapping[str, str],
        *,
        devices: GpuDevices | None = None,
        device_files: tuple[str, ...] = (),
        limits: Limits | None = None,
    ) -> str | None:
        """Start a program that does not exist."""
        if devices is not None and not devices.cdi and self.client.product == "podman":
            return podman.no_gpus(self.client.greet().get("server", ""))

        return probe(self, image, labels, devices=devices, device_files=device_files, limits=limits)

    @contextmanager
    def _with_docker_errors(self) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            if self.client.product != "podman" or not error.status:
                raise
            raise podman.as_docker_error(error) from error


def _resources(kind: ResourceKind, documents: list[dict[str, Any]] | None, key: str) -> list[Resource]:
    return [Resource(kind=kind, id=item[key], labels=item.get("Labels") or {}) for item in documents or ()]


_PATHS: Final = {
    ResourceKind.CONTAINER: "/containers/",
    ResourceKind.VOLUME: "/volumes/",
    ResourceKind.NETWORK: "/networks/",
    ResourceKind.IMAGE: "/images/",
}
_FORBIDDEN = 403
_SOMEBODY_SECONDS = 60.0
"""How long somebody else may need to remove it, or a container to end."""
_PAUSE_SECONDS = 0.05
_USED: Final = regex(r"is in use by task (\w+)")
_KILLED = "did not receive an exit event"
"""Docker has killed a container and saw no end of it for ten seconds: the machine is busy, perhaps with that one."""
_TASK_SECONDS = 10.0
"""How long the manager of a swarm may count containers that another engine has removed."""

MISCOUNTED: Final = (
    "the engine still counts removed containers on it (a bug of Docker before 28.1); after a restart of Docker the "
    "next job with a network removes it"
)
"""Docker has a list and a count of a network's containers. Only a restart corrects a wrong count."""


def remove(client: Client, resource: Resource) -> None:
    """Remove by force. Wait while somebody else removes it, and for a swarm to notice that it is free or gone."""
    parameters, prefix = _by_force(client, resource.kind)
    path = _PATHS[resource.kind] + quote(resource.id)
    begun = time.monotonic()
    while True:
        try:
            client.tell("DELETE", path, parameters=parameters, prefix=prefix, fine={_ABSENT}, call=Call.ACTION)
        except EngineError as error:
            if is_no_manager(error):
                break
            if resource.kind is ResourceKind.NETWORK and (better := miscounted(client, path, error)):
                raise better from error
            if time.monotonic() - begun >= seconds_to_wait(client, error):
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            break
    if resource.kind is ResourceKind.NETWORK:
        of_networks.await_removal(client, path)


def _by_force(client: Client, kind: ResourceKind) -> tuple[dict[str, str], str | None]:
    """The parameters of a removal, and the prefix of the API if it is not Docker's."""
    if kind in {ResourceKind.NETWORK, ResourceKind.IMAGE}:
        return {}, None
    if kind is not ResourceKind.CONTAINER:
        return {"force": "1"}, None
    if client.product == "podman":
        # With Docker's API, Podman 5 gives a running container ten seconds to end first.
        return {"force": "1", "volumes": "1", "timeout": "0"}, podman.own_prefix(client)
    return {"force": "1", "v": "1"}, None


def is_no_manager(error: EngineError) -> bool:
    """True of a network on a worker, which forgets it with its last container. It is removed on a manager."""
    return "not a swarm manager" in error.sentence


def miscounted(client: Client, network: str, error: EngineError) -> EngineError | None:
    """A better error if Docker keeps a network, which is at this path, for containers that are not on it."""
    if error.status != _FORBIDDEN or "active endpoints" not in error.sentence:
        return None
    return None if client.read(network).get("Containers") else EngineError(MISCOUNTED, status=error.status)


def seconds_to_wait(client: Client, error: EngineError) -> float:
    """For how long the removal is worth trying again."""
    if error.status == _CONFLICT and "in progress" in error.sentence:
        return _SOMEBODY_SECONDS
    if _KILLED in error.sentence:
        return _SOMEBODY_SECONDS
    used = _USED.search(error.sentence)
    return _TASK_SECONDS if used and not _is_on_lost_engine(client, used[1]) else 0.0


def _is_on_lost_engine(client: Client, task: str) -> bool:
    """True if the manager knows that the engine of a container is down: it counts the container until that is back."""
    try:
        node = client.read(f"/tasks/{task}")["NodeID"]
        return bool(client.read(f"/nodes/{node}")["Status"]["State"] == "down")
    except EngineError as changed:
        if not changed.status:
            raise
        return False

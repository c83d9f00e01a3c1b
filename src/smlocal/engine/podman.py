"""Where Podman's Docker-compatible API differs from Docker's: converts it to what Docker does."""

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from smlocal.base.regex import regex
from smlocal.engine.client import Client
from smlocal.engine.facts import HOST_GATEWAY
from smlocal.engine.http import Call, quote
from smlocal.engine.interface import ContainerProcess, ContainerSpec
from smlocal.errors import EngineError

_T = TypeVar("_T")
_ABSENT = 404
_CDI_SINCE = (5, 4)
_CDI_FOLDERS = ("/etc/cdi", "/var/run/cdi")
"""The folders with CDI specifications; its API does not report them."""
_PREPARING = regex(r"^preparing container \S+ for attach: ")
_RUNTIME = regex(r"^(?:runc|crun|youki|/\S+): (?P<words>.*): OCI [^:]*$", re.DOTALL)
_VOLUME = regex(r"^mounting volume \S+ for container \S+: ")
_DEFAULT_NETWORK = "podman"
_KNOWS_GATEWAY_SINCE = (4, 7)
_ENDING = regex(r"^read /proc/\d+/cgroup: no such process")
_REMOVED = regex(r"^failed to convert ImageData to ImageInspect .*: image not known$", re.DOTALL)
_LOOKS = 40
_LOOK_SECONDS = 0.05
_MAKING_SECONDS = 5.0
"""So long may a container that is being made be in the storage and not in the list."""
_NOT_RUNNING = "container state improper"
_NAME_IN_USE = ("that name is already in use", "network already exists")


def as_docker_error(error: EngineError) -> EngineError:
    """An error at the start of a container as Docker words it.

    Podman prepares a container when a client attaches, so these errors may already occur then.
    """
    message = _PREPARING.sub("", error.sentence)
    if runtime := _RUNTIME.match(message):
        message = f"OCI runtime create failed: {runtime['words']}: unknown"
    elif _VOLUME.match(message):
        message = f"failed to mount local volume: {_VOLUME.sub('', message)}"
    return EngineError(message, status=error.status)


def is_not_running(error: EngineError) -> bool:
    """True if a signal was sent to a container that is not running."""
    return _NOT_RUNNING in error.sentence


def is_name_in_use(error: EngineError) -> bool:
    """True if a container or a network was refused because of its name; with Docker the status says so."""
    return error.sentence.endswith(_NAME_IN_USE)


def inspect(client: Client, path: str) -> dict[str, Any]:
    """Inspect a container. Podman fails if its process ends at that moment, so try again."""
    document: dict[str, Any] = _again_if(_ENDING, lambda: client.read(path))
    return document


def beside_removals(look: Callable[[], _T]) -> _T:
    """Inspect an image. Podman reads all images then, and fails if another one is removed at that moment."""
    return _again_if(_REMOVED, look)


def _again_if(said: re.Pattern[str], look: Callable[[], _T]) -> _T:
    for _ in range(_LOOKS):
        try:
            return look()
        except EngineError as error:
            if not said.match(error.sentence):
                raise
            time.sleep(_LOOK_SECONDS)
    return look()


def wait(client: Client, container: str, still: Callable[[], None]) -> int:
    """Wait for the end of a container that was started, with Podman's own API.

    With Docker's, Podman 4.3 polls without a pause, which uses more than one processor, and never returns if a
    container is removed that was not started.
    """
    parameters = {"condition": "exited", "interval": "50ms"}
    with client.ask(
        *("POST", f"/containers/{container}/wait"),
        parameters=parameters,
        prefix=own_prefix(client),
        call=Call.WAIT,
        still=still,
    ) as answer:
        return int(answer.json())


def may_be_removed(client: Client, container: str) -> bool:
    """False if there is no such container. Waits while Podman is still making it.

    A container that is being made is in Podman's storage before it is in Podman's list. Removed then, it loses its
    storage and still gets into the list, where it cannot be removed and makes every request for the list fail.
    """
    path, prefix = f"/containers/{quote(container)}/exists", own_prefix(client)
    until = time.monotonic() + _MAKING_SECONDS
    while True:
        statuses = [
            client.tell("GET", path, parameters={"external": external}, prefix=prefix, fine={_ABSENT})
            for external in ("false", "true")
        ]
        if statuses[0] != _ABSENT or statuses[1] == _ABSENT:
            return statuses[0] != _ABSENT
        if time.monotonic() > until:
            return True  # Podman was killed while it made the container
        time.sleep(_LOOK_SECONDS)


def cdi_folders(version: str) -> tuple[str, ...]:
    """The folders with CDI specifications that this version uses. Versions before 5.4 ignore requests for devices."""
    return _CDI_FOLDERS if _numbers(version) >= _CDI_SINCE else ()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\d+", version)[:2])


def no_gpus(version: str) -> str:
    """Why Podman cannot provide GPUs that are not CDI devices. It would start the container without GPUs."""
    if not cdi_folders(version):
        return "Podman before 5.4 ignores GPU requests of its Docker-compatible API"
    return f"Podman gives GPUs to containers as CDI devices, and {' and '.join(_CDI_FOLDERS)} describe none"


def own_prefix(client: Client) -> str:
    """The path prefix of Podman's own API."""
    return f"/v{client.greet()['libpod-api-version']}/libpod"


def with_gateway(client: Client, spec: ContainerSpec) -> ContainerSpec:
    """Replace `host-gateway` by an address: before 4.7, Podman writes the word itself into /etc/hosts."""
    version = _numbers(client.greet()["server"])
    if HOST_GATEWAY not in spec.extra_hosts.values() or version >= _KNOWS_GATEWAY_SINCE:
        return spec
    name = spec.network or _DEFAULT_NETWORK
    ranges = [ip for each in list_networks(client, {}) if each["Name"] == name for ip in each["IPAM"]["Config"]]
    gateway = next((each["Gateway"] for each in ranges if each["Gateway"]), HOST_GATEWAY)
    hosts = {host: gateway if address == HOST_GATEWAY else address for host, address in spec.extra_hosts.items()}
    return replace(spec, extra_hosts=hosts)


def list_networks(client: Client, filters: Mapping[str, str]) -> list[dict[str, Any]]:
    """The networks of the engine in the form of Docker's list, from Podman's own API.

    In Docker's, Podman lists the containers of each network too, and then one container that is only half removed makes
    every such call fail, for as long as that container exists.
    """
    with client.ask("GET", "/networks/json", parameters=filters, prefix=own_prefix(client)) as answer:
        return [docker_network(document) for document in answer.json() or ()]


def docker_network(document: Mapping[str, Any]) -> dict[str, Any]:
    """A network of Podman's own list, with the members of Docker's that are used."""
    ranges = [
        {"Subnet": each.get("subnet") or "", "Gateway": each.get("gateway") or ""}
        for each in document.get("subnets") or ()
    ]
    return {
        "Id": document["id"],
        "Name": document["name"],
        "IPAM": {"Config": ranges},
        "Labels": document.get("labels") or {},
    }


def processes(first: int) -> tuple[ContainerProcess, ...]:
    """The processes of the container whose first process has this number here.

    Podman's own list has no signals, or needs a `ps` in the image. It always runs on this machine.
    """
    try:
        namespace = os.readlink(f"/proc/{first}/ns/pid")
        found = [first, *(number for number in map(int, filter(str.isdigit, os.listdir("/proc"))) if number != first)]
        seen = [_process(number) for number in found if _namespace(number) == namespace]
    except OSError as error:
        raise EngineError(f"the processes of the container cannot be seen: {error.strerror}") from error
    return tuple(each for each in seen if each is not None)


def _namespace(process: int) -> str:
    try:
        return os.readlink(f"/proc/{process}/ns/pid")
    except OSError:  # it has ended, or is somebody else's
        return ""


def _process(number: int) -> ContainerProcess | None:
    try:
        with open(f"/proc/{number}/status", encoding="utf-8", errors="replace") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    except OSError:
        return None
    return ContainerProcess(name=status["Name"], caught=int(status["SigCgt"], 16))

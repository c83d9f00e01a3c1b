"""What Podman does or says otherwise in its Docker-compatible API: as Docker would, which the rooms above know."""

import re
import time
from collections.abc import Callable
from typing import Any

from smlocal.engine.client import Client
from smlocal.engine.timeouts import Call
from smlocal.errors import EngineError

_CDI_SINCE = (5, 4)
_CDI_FOLDERS = ("/etc/cdi", "/var/run/cdi")
"""Where it looks for descriptions of devices, which it does not tell."""
_PREPARING = re.compile(r"^preparing container \S+ for attach: ")
_RUNTIME = re.compile(r"^(?:runc|crun|youki|/\S+): (?P<words>.*): OCI [^:]*$", re.DOTALL)
_VOLUME = re.compile(r"^mounting volume \S+ for container \S+: ")
_ENDING = re.compile(r"^read /proc/\d+/cgroup: no such process")
_LOOKS = 40
_LOOK_SECONDS = 0.05
_NOT_RUNNING = "container state improper"


def in_dockers_words(error: EngineError) -> EngineError:
    """The same trouble at the start of a container as Docker would tell it.

    Podman makes the container ready when somebody attaches to it, so what Docker says at the start comes earlier.
    """
    message = _PREPARING.sub("", error.sentence)
    if runtime := _RUNTIME.match(message):
        message = f"OCI runtime create failed: {runtime['words']}: unknown"
    elif _VOLUME.match(message):
        message = f"failed to mount local volume: {_VOLUME.sub('', message)}"
    return EngineError(message, status=error.status)


def is_not_running(error: EngineError) -> bool:
    """True for a signal to a container that was not started, or has ended."""
    return _NOT_RUNNING in error.sentence


def inspect(client: Client, path: str) -> dict[str, Any]:
    """Inspect a container; Podman fails at one whose process ends while it looks, and not at the next look."""
    document: dict[str, Any]
    for _ in range(_LOOKS):
        try:
            document = client.read(path)
        except EngineError as error:
            if not _ENDING.match(error.sentence):
                raise
            time.sleep(_LOOK_SECONDS)
        else:
            return document
    document = client.read(path)
    return document


def wait(client: Client, container: str, still: Callable[[], None]) -> int:
    """Wait for the end of a container that was started.

    By an API of its own: in Docker's, Podman 4.3 looks at the container without a pause, which takes more than a
    processor from the training, and goes on for ever when one is removed unstarted.
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


def cdi_folders(version: str) -> tuple[str, ...]:
    """The folders whose CDI devices this version gives to containers; older ones ignore that they were asked to."""
    numbers = tuple(int(each) for each in re.findall(r"\d+", version)[:2])
    return _CDI_FOLDERS if numbers >= _CDI_SINCE else ()


def no_gpus(version: str) -> str:
    """Why it gives containers no GPUs that have no CDI devices: it would start them without, and not say a word."""
    if not cdi_folders(version):
        return "Podman before 5.4 ignores GPU requests of its Docker-compatible API"
    return f"Podman gives GPUs to containers as CDI devices, and {' and '.join(_CDI_FOLDERS)} describe none"


def own_prefix(client: Client) -> str:
    """Where Podman's own API begins."""
    return f"/v{client.greet()['libpod-api-version']}/libpod"

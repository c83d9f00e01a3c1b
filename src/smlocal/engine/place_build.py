"""Images built in a place that allows builds only on its network, and not with BuildKit.

With the docker command if it is installed, which alone reads .dockerignore; else by the engine's own builder.
"""

import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from smlocal.engine.client import Client
from smlocal.engine.endpoint import endpoint_at
from smlocal.engine.facts import Place
from smlocal.engine.http import Call
from smlocal.errors import BuildFailedError, EngineError

_PIECE: Final = 1 << 20


def environment_of_docker(address: str) -> dict[str, str]:
    """For the docker command: its pings have no version, so it does not learn which one the engine has."""
    version = Client(endpoint_at(address)).greet()["api-version"]
    return {**os.environ, "DOCKER_BUILDKIT": "0", "DOCKER_API_VERSION": version}


def has_docker_command() -> bool:
    """Whether the docker command can build."""
    return shutil.which("docker") is not None


def build_folder(address: str, place: Place, folder: str, tag: str, *, quiet: bool) -> None:
    """Build the Dockerfile of a folder. The output goes to standard error; nothing is shown if `quiet`."""

    def said(text: str) -> None:
        if not quiet:
            sys.stderr.write(text)
            sys.stderr.flush()

    if os.path.exists(os.path.join(folder, ".dockerignore")):
        said(f"! all files of {folder} are sent: .dockerignore is for the docker command, which is not installed\n")
    with tempfile.TemporaryFile() as packed:
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(folder, ".")
        packed.seek(0)
        pieces: Iterator[bytes] = iter(lambda: packed.read(_PIECE), b"")
        try:
            build(Client(endpoint_at(address)), place, tag, pieces, said=said)
        except EngineError as error:
            if not error.status:
                raise
            raise BuildFailedError(f"the image could not be built from {folder}", details=[error.sentence]) from error


def build_empty(client: Client, place: Place, tag: str, labels: Mapping[str, str]) -> None:
    """An image without files."""
    text = "\n".join(("FROM scratch", *(f'LABEL {key}="{value}"' for key, value in labels.items()))).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo("Dockerfile")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    build(client, place, tag, packed.getvalue())


def build(
    client: Client,
    place: Place,
    tag: str,
    context: bytes | Iterable[bytes],
    *,
    said: Callable[[str], None] = lambda _: None,
) -> None:
    """Send a build context, and show what the builder says. `EngineError` with a status if the build fails."""
    parameters = {"t": tag, "networkmode": place.network, "rm": "1", "forcerm": "1"}
    headers = {"Content-Type": "application/x-tar"}
    with client.ask("POST", "/build", parameters=parameters, data=context, headers=headers, call=Call.STREAM) as answer:
        for line in answer.lines():
            document = json.loads(line or b"{}")
            if trouble := document.get("error"):
                raise EngineError(str(trouble), status=400)
            said(document.get("stream") or "")

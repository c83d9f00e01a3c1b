"""An endpoint for measurements, and the address of its container for the other side of a comparison."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from workplace import BIN, ROOT, Workplace, image

SERVE = ROOT / "tests" / "kit" / "images" / "serve"


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployed:
    """One in service."""

    name: str
    host: str
    port: int
    """Of the address at which smlocal answers."""
    container: str
    """The container's own address, where it listens on 8080."""
    supervisor: int

    @property
    def path(self) -> str:
        return f"/endpoints/{self.name}/invocations"


@contextmanager
def deployed(place: Workplace, *flags: str, folder: Path = SERVE) -> Iterator[Deployed]:
    """Deploy the image in the folder with an empty model; nothing is left afterwards."""
    name = place.new_name()
    model = place.folder / "model"
    model.mkdir(exist_ok=True)
    # Without a key on any machine: boto3, which signs in its own way, has no place for it.
    options = ["--image", image(folder), "--name", name, "--quiet", "--no-key", *flags]
    smlocal(place, "deploy", str(model), *options)
    try:
        local = json.loads(smlocal(place, "describe", name, "--json"))["Local"]
        address = urlsplit(local["Address"])
        assert address.hostname is not None
        assert address.port is not None
        yield Deployed(
            name=name,
            host=address.hostname,
            port=address.port,
            container=container_address(name),
            supervisor=local["SupervisorPid"],
        )
    finally:
        smlocal(place, "rm", "--stop", name)


def smlocal(place: Workplace, *arguments: str) -> str:
    """What a command prints; one that fails ends the benchmark."""
    done: Any = subprocess.run(
        [BIN / "smlocal", *arguments], env=place.environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return str(done.stdout)


def container_of(name: str) -> str:
    command = ["docker", "ps", "--quiet", "--filter", f"label=smlocal.job={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def container_address(name: str) -> str:
    form = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
    asked = ["docker", "inspect", "--format", form, container_of(name)]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()

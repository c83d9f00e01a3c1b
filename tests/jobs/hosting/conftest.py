"""An endpoint of the server in `tests/kit/images/serve`, as users make it, and what was left of it."""

import io
import json
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit.life import Life

Done = "subprocess.CompletedProcess[str]"


@dataclass(kw_only=True)
class Hosting:
    """Deploys and invokes in one home."""

    life: Life
    image: str

    def model_file(self, name: str, *, limits: Mapping[str, int] | None = None, **members: Any) -> Path:
        """A model file for the server; `variables` are those of its container.

        Its address needs no key, whoever has an account on this machine.
        """
        container = {
            "Image": self.image,
            "ModelDataUrl": "./model.tar.gz",
            "Environment": members.pop("variables", {}),
            **members.pop("container", {}),
        }
        local = {"StopGraceSeconds": members.pop("grace", 30), "Serving": {"Key": False, **(limits or {})}}
        path = self.life.folder / f"{name}.json"
        path.write_text(json.dumps({"PrimaryContainer": container, "Local": local, **members}))
        return path

    def archive(self, files: Mapping[str, str] = {"weights.txt": "trained"}) -> Path:
        path = self.life.folder / "model.tar.gz"
        with tarfile.open(path, "w:gz") as file:
            for name, text in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(text)
                file.addfile(info, io.BytesIO(text.encode()))
        return path

    def deploy(self, name: str, *flags: str, **members: Any) -> "subprocess.CompletedProcess[str]":
        self.archive()
        return self.life("deploy", self.model_file(name, **members), "--name", name, *flags)

    def in_service(self, name: str, **members: Any) -> str:
        """Its address."""
        done = self.deploy(name, **members)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def invoke(self, name: str, body: str = "1,2", *flags: str) -> "subprocess.CompletedProcess[str]":
        (self.life.folder / "body").write_text(body)
        return self.life("invoke", name, "--body-file", "body", *flags)

    def described(self, name: str) -> dict[str, Any]:
        return self.life.describe(name)

    def listed(self) -> dict[str, str]:
        """The status of each."""
        found = json.loads(self.life("endpoints", "--json").stdout)
        return {each["EndpointName"]: each["EndpointStatus"] for each in found["Endpoints"]}

    def log(self, name: str) -> str:
        return self.life.log(name, "AllTraffic")

    def until(self, condition: Callable[[], bool]) -> None:
        self.life.until(condition)


@pytest.fixture
def hosting(life: Life, image: Callable[[str], str]) -> Hosting:
    return Hosting(life=life, image=image("serve"))

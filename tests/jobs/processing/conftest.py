"""Processing jobs whose programs are shell scripts, as users run them, and what was left of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit.life import Life

ROOT = "/opt/ml/processing"


def an_input(name: str, uri: str, path: str = "", **members: Any) -> dict[str, Any]:
    source = {"S3Uri": uri, "LocalPath": path or f"{ROOT}/{name}", **members}
    return {"InputName": name, "S3Input": source}


def an_output(name: str, uri: str = "", path: str = "", **members: Any) -> dict[str, Any]:
    target = {"S3Uri": uri or f"./out/{name}", "LocalPath": path or f"{ROOT}/{name}", **members}
    return {"OutputName": name, "S3Output": target}


@dataclass(kw_only=True)
class Processing:
    """Runs processing jobs in one home."""

    life: Life

    def job_file(
        self,
        name: str,
        script: str,
        *,
        inputs: Sequence[Mapping[str, Any]] = (),
        outputs: Sequence[Mapping[str, Any]] = (),
        hosts: int = 1,
        app: Mapping[str, Any] | None = None,
        local: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> Path:
        """A job whose program is a script, which is an input of its own."""
        folder = self.life.folder / "code" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.sh").write_text(f"set -eu\n{script}\n")
        request = {
            "ProcessingJobName": name,
            "AppSpecification": {
                "ImageUri": self.life.image,
                "ContainerEntrypoint": ["sh", f"{ROOT}/code/run.sh"],
                **(app or {}),
            },
            "ProcessingInputs": [an_input("code", f"./code/{name}"), *inputs],
            **({"ProcessingOutputConfig": {"Outputs": list(outputs)}} if outputs else {}),
            "ProcessingResources": {
                "ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts, "VolumeSizeInGB": 10}
            },
            **members,
            **({"Local": local} if local else {}),
        }
        path = self.life.folder / f"{name}.json"
        path.write_text(json.dumps(request))
        return path

    def run_job(self, name: str, script: str, **more: Any) -> dict[str, Any]:
        """Its answer at the end."""
        done = self.life("run", self.job_file(name, script, **more), "--json")
        assert done.stdout, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        assert answer["Local"]["Leftovers"] == []
        return answer

    def refused(self, name: str, script: str = "true", **more: Any) -> str:
        """What is said about a job that is not made."""
        done = self.life("run", self.job_file(name, script, **more))
        assert done.returncode == 2, done.stderr
        return " ".join(done.stderr.split())

    def detach(self, name: str, script: str, **more: Any) -> None:
        done = self.life("run", "--detach", self.job_file(name, script, **more))
        assert (done.returncode, done.stdout) == (0, f"{name}\n"), done.stderr

    def files(self, folder: str = "out") -> dict[str, str]:
        """The files below a folder beside the job files."""
        top = self.life.folder / folder
        return {str(each.relative_to(top)): each.read_text() for each in sorted(top.rglob("*")) if each.is_file()}


@pytest.fixture
def processing(life: Life) -> Processing:
    return Processing(life=life)

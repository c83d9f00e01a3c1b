"""Transform jobs of the server in `tests/kit/images/transform`, as users make them."""

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit.life import Life


@dataclass(kw_only=True)
class Transforms:
    """Runs transform jobs in one home. Their input is in `data`, their output in `out`."""

    life: Life
    image: str

    def data(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.life.folder / "data" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def job_file(self, name: str, **members: Any) -> Path:
        """A file for the server; `variables` are those of its container, `source` and `output` parts of the request."""
        source = {"S3DataType": "S3Prefix", "S3Uri": "./data", **members.pop("objects", {})}
        request = {
            "TransformJobName": name,
            "PrimaryContainer": {"Image": self.image, "Environment": members.pop("variables", {})},
            "TransformInput": {
                "DataSource": {"S3DataSource": source},
                "SplitType": "Line",
                "ContentType": "text/csv",
                **members.pop("source", {}),
            },
            "TransformOutput": {"S3OutputPath": "./out", "Accept": "text/csv", **members.pop("output", {})},
            **members,
        }
        path = self.life.folder / f"{name}.json"
        path.write_text(json.dumps(request))
        return path

    def run(self, name: str, **members: Any) -> "subprocess.CompletedProcess[str]":
        return self.life("run", self.job_file(name, **members))

    def completed(self, name: str, **members: Any) -> dict[str, str]:
        """The output of a job that goes well."""
        done = self.run(name, **members)
        assert done.returncode == 0, done.stderr
        return self.output()

    def output(self) -> dict[str, str]:
        """By path below `out`."""
        folder = self.life.folder / "out"
        return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}

    def data_log(self, name: str) -> list[str]:
        """Its lines, without the time."""
        lines = self.life.log(name, "data-log").splitlines()
        return [line.partition(":[sagemaker logs]: ")[2] for line in lines]


@pytest.fixture
def transforms(life: Life, image: Callable[[str], str]) -> Transforms:
    return Transforms(life=life, image=image("transform"))

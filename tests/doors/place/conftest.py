"""Jobs in a place like SageMaker Studio, as its user makes them; nothing that is not known to be allowed is asked."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit.studio_engine import StudioPlace

RESOURCES = {"InstanceType": "ml.m5.large", "InstanceCount": 1}
_KILL = """
import os, signal, sys
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
os.kill(Store.open(home_directory()).get(sys.argv[1]).supervisor_pid, signal.SIGKILL)
"""


@dataclass(kw_only=True)
class Here:
    """The user of the place. The files of a job are in the home folder."""

    place: StudioPlace
    image: Callable[[str | Path], str]

    @property
    def home(self) -> Path:
        return self.place.home

    def write(self, files: Mapping[str, str]) -> None:
        for name, content in files.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def training(self, name: str, script: str, *, runs: str = "sh", **members: Any) -> str:
        """The name of a file with a job whose program is this script."""
        request = {
            "TrainingJobName": name,
            "AlgorithmSpecification": {"TrainingImage": self.image(runs), "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": script},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": RESOURCES,
            "StoppingCondition": {"MaxRuntimeInSeconds": 240},
            **members,
        }
        return self.file(request, name)

    def file(self, request: Mapping[str, Any], name: str) -> str:
        self.write({f"{name}.json": json.dumps(request)})
        return f"{name}.json"

    def run(self, file: str, *flags: str) -> dict[str, Any]:
        """What describe answers at the end of a job."""
        done = self.place.run("smlocal", "run", file, "--json", *flags)
        assert done.stdout, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        assert answer["Local"]["Leftovers"] == [], done.stderr
        return answer

    def smlocal(self, *arguments: str) -> str:
        return self.place.run("smlocal", *arguments, check=True).stdout

    def described(self, name: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.smlocal("describe", name, "--json"))
        return answer

    def kill_supervisor(self, name: str) -> None:
        self.place.run("python3", "-c", _KILL, name, check=True)

    def files(self, folder: str = "out") -> dict[str, str]:
        """Those below a folder of the home."""
        top = self.home / folder
        return {str(each.relative_to(top)): each.read_text() for each in sorted(top.rglob("*")) if each.is_file()}

    def of_others(self) -> Sequence[str]:
        """What of the user's home belongs to others, apart from what tests write there."""
        uid = self.place.user.partition(":")[0]
        found = self.place.run("find", ".local", ".cache", "out", "-not", "-uid", uid).stdout
        return found.split("\n")[:-1]


@pytest.fixture
def here(place: StudioPlace, image: Callable[[str | Path], str]) -> Iterator[Here]:
    """At the end, nothing has been refused, and no container or volume is left."""
    yield Here(place=place, image=image)
    place.assert_nothing_refused()
    assert place.left() == []

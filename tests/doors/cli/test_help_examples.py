"""The examples of the help that need an engine, typed one after another in one folder."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kit.doc_blocks import ROOT
from tests.kit.fixtures import build_image
from tests.unit.cli.help_examples import ON_AN_ENGINE


@pytest.fixture
def home(smlocal_home: Path) -> Iterator[Path]:
    """Whose jobs keep their containers until the test ends."""
    yield smlocal_home
    environment = {**os.environ, "SMLOCAL_HOME": str(smlocal_home)}
    subprocess.run([sys.executable, "-m", "smlocal", "rm", "--stop", "*"], env=environment, check=True, timeout=300)


@pytest.mark.slow(5)
def test_examples_run_on_an_engine(home: Path, image: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1\n")
    request = {
        "TrainingJobName": "my-job",
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": "echo hello"},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        "Local": {"Keep": "all"},
    }
    (tmp_path / "job.yaml").write_text(json.dumps(request))
    environment = {**os.environ, "SMLOCAL_HOME": str(home)}
    my_image = build_image(ROOT / "benchmarks" / "images" / "no-op")
    for line, code in ON_AN_ENGINE.items():
        typed = re.sub(r"\bmy-image\b", my_image, line).replace("smlocal", f"{sys.executable} -m smlocal", 1)
        done = subprocess.run(
            ["bash", "-c", typed],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert (line, done.returncode) == (line, code), f"{done.stdout}\n{done.stderr}"

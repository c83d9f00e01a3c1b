"""No GPU for a job on CPUs, on an engine whose usual runtime gives GPUs to every container that names them.

The runtime stands in for NVIDIA's: it writes down what it would give, and then does what runc does. No GPU is needed.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run
from tests.kit.own_engine import OwnEngine

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("dockerd") or not shutil.which("unshare"),
    reason="an engine of the test's own needs root, dockerd and unshare",
)
SHOW = 'echo "visible: ${NVIDIA_VISIBLE_DEVICES-none}"'
RUNTIME = """#!{python}
import json, os, sys
if "create" in sys.argv:
    bundle = sys.argv[sys.argv.index("--bundle") + 1]
    with open(os.path.join(bundle, "config.json")) as file:
        variables = dict(line.split("=", 1) for line in json.load(file)["process"]["env"])
    given = variables.get("NVIDIA_VISIBLE_DEVICES", "all" if "CUDA_VERSION" in variables else "")
    if given not in ("", "void"):
        with open({given!r}, "a") as file:
            file.write(given + "\\n")
os.execvp("runc", ["runc", *sys.argv[1:]])
"""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The engine, and what its runtime has given to containers."""

    engine: OwnEngine
    record: Path

    def given(self) -> list[str]:
        """Since the last look."""
        lines = self.record.read_text().splitlines()
        self.record.write_text("")
        return lines


@pytest.fixture(scope="module")
def machine(image: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("runtime")
    (record := folder / "given").touch()
    runtime = folder / "nvidia-container-runtime"
    runtime.write_text(RUNTIME.format(python=sys.executable, given=str(record)))
    runtime.chmod(0o755)
    engine = OwnEngine(options=("--add-runtime", f"nvidia={runtime}", "--default-runtime", "nvidia"))
    try:
        engine.start()
        for name in ("sh", "names-gpus"):
            engine.load(image(name))
        yield Machine(engine=engine, record=record)
    finally:
        engine.close()


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(
    ("name", "kind", "variables", "options", "visible"),
    [
        ("names-gpus", "ml.m5.large", {}, [], "all"),
        ("names-gpus", "ml.g4dn.xlarge", {}, ["--allow-cpu"], "all"),
        ("names-gpus", "ml.m5.large", {"NVIDIA_VISIBLE_DEVICES": "0"}, [], "0"),
        ("sh", "ml.m5.large", {"NVIDIA_VISIBLE_DEVICES": "all"}, [], "all"),
        ("sh", "ml.m5.large", {"CUDA_VERSION": "9.0"}, [], "none"),
        ("sh", "ml.m5.large", {}, [], "none"),
    ],
)
def test_the_variable_is_the_images_and_no_gpu_is_given(
    machine: Machine,
    tmp_path: Path,
    image: Callable[[str], str],
    smlocal_run: Run,
    name: str,
    kind: str,
    variables: dict[str, str],
    options: list[str],
    visible: str,
) -> None:
    # Any other container does get them.
    words = [word for each in variables.items() for word in ("-e", "=".join(each))]
    machine.engine.docker("run", "--rm", *words, "--entrypoint", "true", image(name))
    assert bool(machine.given()) is bool(variables or name == "names-gpus")

    request: dict[str, Any] = {
        "TrainingJobName": "names-gpus",
        "AlgorithmSpecification": {"TrainingImage": image(name), "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": SHOW, **variables},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": kind, "InstanceCount": 1},
    }
    file = tmp_path / "job.json"
    file.write_text(json.dumps(request))
    environment = {"DOCKER_HOST": machine.engine.address}
    done = smlocal_run("run", file, *options, "--json", env=environment)
    assert done.returncode == 0, done.stderr
    log = Path(json.loads(done.stdout)["Local"]["Hosts"][0]["Log"]).read_text()
    assert log == f"visible: {visible}\n"
    assert machine.given() == []
    script = smlocal_run("plan", file, *options, "--script", env=environment).stdout
    assert ("--runtime runc" in script) is bool(variables or name == "names-gpus")

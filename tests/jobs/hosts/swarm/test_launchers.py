"""torchrun over three engines that see this machine's folders."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.hosts.swarm.conftest import MakeEngines
from tests.kit.fixtures import IMAGES


@pytest.mark.large("tests/kit/images/distributed")
@pytest.mark.slow(43)
@pytest.mark.long
def test_torchrun(
    make_engines: MakeEngines,
    image: Callable[[str], str],
    smlocal_run: Callable[..., Any],
    tmp_path: Path,
) -> None:
    engines = make_engines("manager", "worker", "worker", image=(tag := image("distributed")))
    request = {
        "TrainingJobName": (name := f"torchrun-on-engines-{os.getpid()}"),
        "AlgorithmSpecification": {
            "TrainingImage": tag,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["sh", "/opt/ml/code/launch.sh"],
        },
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 3},
        "Local": {
            "Code": str(IMAGES / "distributed" / "code"),
            "Engines": [each.address for each in engines.engines],
        },
    }
    (tmp_path / "job.json").write_text(json.dumps(request))
    done = smlocal_run("run", "job.json", cwd=tmp_path, timeout=600)
    assert done.returncode == 0, done.stderr
    said = "of 6 sum 21 master algo-1 interface eth0"
    assert sorted(re.findall(r"algo-\d.*(rank \d of .*)", done.stdout)) == [f"rank {rank} {said}" for rank in range(6)]
    answer = json.loads(smlocal_run("describe", name, "--json", check=True).stdout)
    assert [each["Engine"] for each in answer["Local"]["Hosts"]] == [each.address for each in engines.engines]
    networks = ("network", "ls", "--quiet", "--filter", "label=smlocal.job")
    assert not any(each.docker(*networks) for each in engines.engines)

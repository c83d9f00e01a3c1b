"""torchrun on two hosts without any toolkit: a start script that knows its host, its peers and the interface.

Launchers of the toolkits and of the SDKs are in clients/test_launchers.py.
"""

import re
from collections.abc import Callable

import pytest
from tests.kit.fixtures import IMAGES
from tests.kit.jobs import Ran


@pytest.mark.large("tests/kit/images/distributed")
@pytest.mark.slow(25)
@pytest.mark.long
def test_torchrun(run_job: Callable[..., Ran], image: Callable[[str], str]) -> None:
    ran = run_job(
        [],
        "",
        local={"Code": str(IMAGES / "distributed" / "code")},
        AlgorithmSpecification={
            "TrainingImage": image("distributed"),
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["sh", "/opt/ml/code/launch.sh"],
        },
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 2},
    )
    assert ran.exit == 0, ran.log()
    said = "of 4 sum 10 master algo-1 interface eth0"
    assert ranks(ran.log("algo-1")) == [f"rank 0 {said}", f"rank 1 {said}"]
    assert ranks(ran.log("algo-2")) == [f"rank 2 {said}", f"rank 3 {said}"]


def ranks(log: str) -> list[str]:
    """The lines of each process about itself."""
    return sorted(re.findall(r"rank \d of .*", log))

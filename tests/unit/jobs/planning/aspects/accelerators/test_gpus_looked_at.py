"""The remedy for an engine that gives no GPU, by its message."""

from dataclasses import replace

import pytest

from smlocal.engine.facts import EngineFacts, Place
from smlocal.errors import GpuUnavailableError
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.accelerators.look import try_gpus
from smlocal.jobs.planning.aspects.accelerators.plan import GpuFacts
from smlocal.sagemaker.contract.documents.config_files import homogeneous
from smlocal.terms.gpus import GpuDevices

ELSEWHERE = EngineFacts(
    address="tcp://far",
    local=False,
    shares_folders=False,
    version="5.4.2",
    architecture="amd64",
    operating_system="linux",
    storage_driver="overlay",
)
"""So that it does not matter which driver is here."""


class Refusing:
    """An engine of which only this is asked."""

    def __init__(self, said: str) -> None:
        self.said, self.engine = said, ELSEWHERE

    def probe(self, _image: str, _labels: object, *, devices: GpuDevices) -> str:
        assert devices.cdi
        return self.said

    def facts(self) -> EngineFacts:
        return self.engine


@pytest.mark.parametrize(
    ("said", "missing", "cure"),
    [
        ("setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=0", "no CDI devices", "nvidia-ctk cdi"),
        (
            "Podman gives GPUs to containers as CDI devices, and /etc/cdi describe none",
            "no CDI devices",
            "nvidia-ctk cdi",
        ),
        (
            'could not select device driver "" with capabilities: [[gpu]]',
            "no NVIDIA container toolkit",
            "runtime configure",
        ),
        ("nvml error: driver not loaded", "this engine provides none", "Make docker run --gpus all work"),
    ],
)
def test_each_has_its_own(said: str, missing: str, cure: str) -> None:
    hosts = homogeneous(1, "ml.g4dn.xlarge")
    with pytest.raises(GpuUnavailableError, match=missing) as caught:
        try_gpus(hosts, LocalSettings(), GpuFacts(cdi=True), Refusing(said), "i")  # type: ignore[arg-type]  # see above
    assert caught.value.details == (said,)
    assert cure in caught.value.remedy[0]


def test_nobody_installs_a_driver_in_studio() -> None:
    """Its spaces are machines of the service."""
    there = Refusing("could not select device driver")
    there.engine = replace(ELSEWHERE, local=True, place=Place(app="JupyterLab"))
    hosts = homogeneous(1, "ml.g4dn.xlarge")
    with pytest.raises(GpuUnavailableError, match="the instance of this space has no GPU") as caught:
        try_gpus(hosts, LocalSettings(), GpuFacts(cdi=True), there, "i")  # type: ignore[arg-type]  # see above
    assert caught.value.remedy[0] == "Run the space on an instance type that has GPUs;"

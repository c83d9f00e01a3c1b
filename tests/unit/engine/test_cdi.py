"""An engine's report of CDI devices: the answers of Docker 20.10, 25 and 28 to `/info`."""

from pathlib import Path
from typing import Any

import pytest

from smlocal.engine.documents import container_document
from smlocal.engine.engine_facts import cdi_gpus
from smlocal.engine.interface import ContainerSpec
from smlocal.terms.gpus import GpuDevices


def discovered(*names: str) -> dict[str, Any]:
    return {"CDISpecDirs": ["/etc/cdi"], "DiscoveredDevices": [{"Source": "cdi", "ID": name} for name in names]}


@pytest.mark.parametrize(
    ("info", "gpus"),
    [
        ({"Driver": "overlay2"}, None),
        ({"CDISpecDirs": [], "DiscoveredDevices": None}, None),
        (discovered("vendor.com/net=0"), None),
        (discovered("nvidia.com/gpu=all"), None),
        (
            discovered("nvidia.com/gpu=1", "nvidia.com/gpu=0", "nvidia.com/gpu=GPU-8f1c", "nvidia.com/gpu=all"),
            ("0", "1"),
        ),
        (discovered("nvidia.com/gpu=10", "nvidia.com/gpu=9"), ("9", "10")),
        (discovered("nvidia.com/gpu=GPU-8f1c", "nvidia.com/gpu=all"), ("GPU-8f1c",)),
    ],
)
def test_devices_that_are_listed(info: dict[str, Any], gpus: tuple[str, ...] | None) -> None:
    assert cdi_gpus(info, local=False) == gpus


def test_an_engine_that_only_names_the_folders(tmp_path: Path) -> None:
    folders = {"CDISpecDirs": [str(tmp_path / "gone"), str(tmp_path)]}
    assert cdi_gpus(folders, local=True) is None
    (tmp_path / "net.yaml").write_text("cdiVersion: 0.6.0\nkind: vendor.com/net\n")
    (tmp_path / "notes.txt").write_text("nvidia.com/gpu\n")
    assert cdi_gpus(folders, local=True) is None
    (tmp_path / "nvidia.yaml").write_text("cdiVersion: 0.6.0\nkind: nvidia.com/gpu\n")
    assert cdi_gpus(folders, local=True) == ()
    assert cdi_gpus(folders, local=False) is None


@pytest.mark.parametrize(
    ("devices", "request_"),
    [
        (GpuDevices(ids=("2", "3")), {"Driver": "", "DeviceIDs": ["2", "3"], "Capabilities": [["gpu"]]}),
        (GpuDevices(ids=("0", "1"), every=True), {"Driver": "", "Count": -1, "Capabilities": [["gpu"]]}),
        (
            GpuDevices(ids=("2", "3"), cdi=True),
            {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=2", "nvidia.com/gpu=3"]},
        ),
        (GpuDevices(ids=(), every=True, cdi=True), {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"]}),
    ],
)
def test_how_devices_are_asked_for(devices: GpuDevices, request_: dict[str, Any]) -> None:
    spec = ContainerSpec(
        name="c",
        image="i",
        labels={},
        entrypoint=None,
        command=None,
        environment={},
        hostname="h",
        devices=devices,
    )
    assert container_document(spec)["HostConfig"]["DeviceRequests"] == [request_]

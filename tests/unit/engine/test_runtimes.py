"""The runtime for containers without GPUs."""

from pathlib import Path
from typing import Any

import pytest

from smlocal.engine.documents import container_document
from smlocal.engine.engine_facts import plain_runtime
from smlocal.engine.interface import ContainerSpec
from smlocal.terms.gpus import GpuDevices, names_gpus

NVIDIA = {"path": "/usr/bin/nvidia-container-runtime", "runtimeArgs": []}
RUNC = {"path": "runc"}


@pytest.mark.parametrize(
    ("usual", "runtimes", "chosen"),
    [
        ("runc", {"runc": RUNC}, ""),
        ("runc", {"runc": RUNC, "nvidia": NVIDIA}, ""),
        ("runsc", {"runc": RUNC, "runsc": {"path": "/usr/bin/runsc"}}, ""),  # it was chosen for other reasons
        ("nvidia", {"runc": RUNC, "nvidia": NVIDIA}, "runc"),
        ("gpu", {"runc": RUNC, "gpu": NVIDIA}, "runc"),
        ("nvidia", {"nvidia": NVIDIA, "crun": {"path": "/usr/bin/crun"}}, "crun"),
        ("nvidia", {"nvidia": NVIDIA, "runc": NVIDIA}, None),
        ("nvidia", {}, None),
        ("", {}, ""),
    ],
)
def test_another_runtime_than_nvidias_is_chosen(usual: str, runtimes: dict[str, Any], chosen: str | None) -> None:
    info = {"DefaultRuntime": usual, "Runtimes": runtimes}
    assert plain_runtime(info, "docker", local=True) == chosen


@pytest.mark.parametrize(
    ("usual", "local", "hook", "chosen"),
    [
        ("crun", True, "", ""),
        ("crun", True, '{"hook": {"path": "/usr/bin/oci-umount"}}', ""),
        ("crun", True, '{"hook": {"path": "/usr/bin/nvidia-container-toolkit"}}', None),
        ("crun", False, "", None),  # its hooks are not seen
        ("nvidia", True, "", None),  # a request cannot name another one
    ],
)
def test_podman_has_hooks_too(tmp_path: Path, usual: str, local: bool, hook: str, chosen: str | None) -> None:
    if hook:
        (tmp_path / "hook.json").write_text(hook)
    (tmp_path / "folder").mkdir()
    info = {"DefaultRuntime": usual, "Runtimes": {"crun": {"path": "/usr/bin/crun"}, "nvidia": NVIDIA}}
    folders = [str(tmp_path / "none"), str(tmp_path)]
    assert plain_runtime(info, "podman", local=local, hooks=folders) == chosen


@pytest.mark.parametrize(
    ("environment", "names"),
    [
        ({}, False),
        ({"PATH": "/bin", "NVIDIA_DRIVER_CAPABILITIES": "compute"}, False),
        ({"NVIDIA_VISIBLE_DEVICES": "void"}, False),
        ({"NVIDIA_VISIBLE_DEVICES": ""}, False),
        ({"NVIDIA_VISIBLE_DEVICES": "none"}, True),  # it gives the driver's programs
        ({"NVIDIA_VISIBLE_DEVICES": "all"}, True),
        ({"NVIDIA_VISIBLE_DEVICES": "GPU-1"}, True),
        ({"CUDA_VERSION": "9.0"}, True),
        ({"CUDA_VERSION": "9.0", "NVIDIA_VISIBLE_DEVICES": "void"}, True),
    ],
)
def test_what_names_gpus(environment: dict[str, str], names: bool) -> None:
    assert names_gpus(environment) is names


def test_the_engine_is_told_the_runtime() -> None:
    words: dict[str, Any] = {"name": "c", "image": "i", "labels": {}, "entrypoint": None, "command": None}
    spec = ContainerSpec(**words, environment={}, hostname="h", runtime="runc")
    assert container_document(spec)["HostConfig"]["Runtime"] == "runc"
    plain = ContainerSpec(**words, environment={}, hostname="h", devices=GpuDevices(ids=("0",)))
    assert "Runtime" not in container_document(plain)["HostConfig"]

"""A job of a Trainium type, without Neuron devices and with a device that stands in for one."""

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run

DEVICE = Path("/dev/neuron0")
TRAINIUM = {"InstanceType": "ml.trn1.2xlarge", "InstanceCount": 1}
LOOK = "ls /dev | grep neuron || echo none"

pytestmark = pytest.mark.skipif(DEVICE.exists(), reason="this machine has Neuron devices")


@pytest.fixture
def device() -> Iterator[None]:
    """A copy of /dev/null under the name of the first Neuron device."""
    try:
        os.mknod(DEVICE, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("making a device needs root")
    try:
        yield
    finally:
        DEVICE.unlink()


def test_a_job_without_them_is_refused_unless_told(
    job_file: Callable[..., Path], run_job: Callable[..., Any], smlocal_run: Run
) -> None:
    path = job_file([], LOOK, ResourceConfig=TRAINIUM)
    done = smlocal_run("run", path)
    assert done.returncode == 3
    assert "[neuron-unavailable]" in done.stderr
    assert "ml.trn1.2xlarge has 1 Neuron device, and this machine has none" in done.stderr
    assert "--allow-cpu" in done.stderr
    assert "a run will be refused" in smlocal_run("plan", path).stdout
    assert json.loads(smlocal_run("jobs", "--json").stdout)["TrainingJobSummaries"] == []

    ran = run_job([], LOOK, ResourceConfig=TRAINIUM, flags=["--allow-cpu"])
    assert ran.log() == "none\n"
    assert ran.answer["Local"]["AllowCpu"] is True
    assert "allow-cpu" in ran.notes


@pytest.mark.usefixtures("device")
def test_a_job_has_the_devices_of_its_type(
    job_file: Callable[..., Path], run_job: Callable[..., Any], smlocal_run: Run
) -> None:
    ran = run_job([], f"{LOOK}; echo x >/dev/neuron0", ResourceConfig=TRAINIUM)
    assert ran.exit == 0, ran.reason
    assert ran.log() == "neuron0\n"
    assert ran.notes.isdisjoint({"allow-cpu", "neuron-unseen"})
    path = job_file([], LOOK, ResourceConfig=TRAINIUM)
    assert "Neuron       algo-1: /dev/neuron0" in smlocal_run("plan", path).stdout
    assert "--device /dev/neuron0" in smlocal_run("plan", "--script", path).stdout

    two = smlocal_run("run", job_file([], LOOK, ResourceConfig={**TRAINIUM, "InstanceCount": 2}))
    assert two.returncode == 3
    assert "2 hosts need 2 Neuron devices" in two.stderr

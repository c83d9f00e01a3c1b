"""A volume of a limited size, which a restart of the machine unmounts. It is a file of its own, on a loop device."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from smlocal.engine.engines import Engines
from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, Engine, Resource, ResourceKind
from smlocal.errors import MachineNotReadyError
from smlocal.jobs.containers import HOST_LABEL
from smlocal.jobs.control.adopt import _mount_volumes
from smlocal.jobs.host.staging import make_volume, unmount_volumes
from smlocal.jobs.planning.model import JobPlan, host_directory

ABSENT = "unix:///absent.sock"
SIZE = 4 << 20

needs_mounts = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/loop-control").exists(), reason="only root mounts, and only with loop devices"
)


class Containers:
    """An engine with the container of one host."""

    def __init__(self, plan: JobPlan) -> None:
        labels = {JOB_LABEL: plan.name, RUN_LABEL: plan.run_id, HOST_LABEL: "algo-1"}
        self.container = Resource(kind=ResourceKind.CONTAINER, id="c", labels=labels)

    def owned(self, _: str) -> list[Resource]:
        return [self.container]


@pytest.fixture
def limited(tmp_path: Path, plan: Callable[..., JobPlan]) -> Iterator[JobPlan]:
    made = plan({"InputDataConfig": None}, job_directory=str(tmp_path / "job-1"))
    (host,) = made.hosts
    made = replace(made, hosts=(replace(host, limits=replace(host.limits, disk=SIZE)),))
    yield made
    unmount_volumes(made.job_directory)


def mount(plan: JobPlan) -> None:
    _mount_volumes(plan, Engines({ABSENT: cast("Engine", Containers(plan))}))


@needs_mounts
def test_it_is_mounted_again_for_the_next_supervisor(limited: JobPlan) -> None:
    (host,) = limited.hosts
    make_volume(limited, host)
    model = Path(host_directory(limited, host), "m")
    model.write_text("learnt")
    unmount_volumes(limited.job_directory)
    assert not model.exists()
    for _ in range(2):  # the second time it is there
        mount(limited)
        assert model.read_text() == "learnt"


def test_one_that_cannot_be_mounted_leaves_the_job_to_a_later_supervisor(limited: JobPlan) -> None:
    volume = Path(limited.job_directory, "volumes", "algo-1.ext4")
    volume.parent.mkdir(parents=True)
    volume.write_bytes(bytes(SIZE))
    with pytest.raises(MachineNotReadyError, match="the volume of algo-1 cannot be mounted: mount: "):
        mount(limited)
    assert volume.exists()


def test_a_job_without_one_asks_no_engine(limited: JobPlan) -> None:
    (host,) = limited.hosts
    unlimited = replace(limited, hosts=(replace(host, limits=replace(host.limits, disk=None)),))
    _mount_volumes(unlimited, Engines({}))

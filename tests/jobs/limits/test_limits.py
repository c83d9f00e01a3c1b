"""Containers that may use only so much, and end as they would on an instance of that size."""

import json
import os
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run, until
from tests.kit.fixtures import touch_inside
from tests.kit.reasons import assert_failed

from smlocal.jobs.usage.series import read_series
from smlocal.jobs.usage.usage_watch import series_path

SMALL = {"InstanceType": "ml.t3.medium", "InstanceCount": 1}
OUT_OF_MEMORY = (
    "ClientError: Please use an instance type with more memory, "
    "or reduce the size of job data processed on an instance."
)
MEASURE = """
cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max
cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null || cut -d ' ' -f 1 /sys/fs/cgroup/cpu.max
df -k /dev/shm | tail -n 1 | awk '{ print $2 }'
ulimit -Sn; ulimit -Hn
"""
FILL = """
df -k /opt/ml/model | tail -n 1 | awk '{ print $2 }' >&2
fallocate -l 700m /opt/ml/model/one
fallocate -l 700m /opt/ml/output/data/two || { echo small >/opt/ml/model/one; exit 1; }
"""


def test_each_limit_reaches_the_container(run_job: Callable[..., Any]) -> None:
    local = {"Memory": "256m", "Cpus": 0.5, "ShmSize": "96m", "Ulimits": {"nofile": "1000:1500"}}
    ran = run_job([], MEASURE, local={**local, "EnforceInstanceLimits": True}, ResourceConfig=SMALL)
    assert ran.exit == 0, ran.reason
    assert ran.log().split() == [str(256 << 20), "50000", str(96 << 10), "1000", "1500"]
    assert "limits-own" in ran.notes
    assert "instance-size" not in ran.notes


def test_memory_that_runs_out_gives_the_reason_of_production(run_job: Callable[..., Any]) -> None:
    # PID 1 itself holds it: dd's block is one piece of memory, every page of which is written to.
    script = "exec dd if=/dev/zero of=/dev/null bs=256M count=1"
    ran = run_job([], script, local={"Memory": "64m"})
    assert ran.reason == OUT_OF_MEMORY
    assert ran.answer["Local"]["Hosts"][0]["OomKilled"] is True
    assert ran.exit == 1


@pytest.mark.slow(2)
def test_memory_that_runs_out_is_compared_with_the_limit_of_the_job(
    job_file: Callable[..., Path], background: Callable[[Path], Any]
) -> None:
    script = "until [ -e /opt/ml/output/go ]; do sleep 0.1; done; exec dd if=/dev/zero of=/dev/null bs=256M count=1"
    job = background(job_file([], script, local={"Memory": "64m"}))
    measured = Path(series_path(str(job.home / "jobs" / job.name), "algo-1"))
    until(lambda: measured.exists() and bool(read_series(str(measured)).points))
    touch_inside(job.home / "jobs" / job.name / "hosts" / "algo-1" / "output" / "go")
    usage = job.finish()["Local"]["Usage"]
    assert usage["Hosts"][0]["MemoryLimitMiB"] == 64
    assert "the 64 MiB of Local.Memory. Raise Local.Memory." in usage["Advice"][0]["Sentences"][0]


needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/loop-control").exists(),
    reason="only root can create a disk of a fixed size, and only with loop devices",
)


@needs_root
@pytest.mark.slow(2)
def test_a_volume_that_a_restart_of_the_machine_has_unmounted(
    life: Any, docker: Callable[..., str], assert_nothing_left: Callable[[str], None]
) -> None:
    name = "fixes-jobs-volume"
    script = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.1; done; echo done >/opt/ml/model/m"
    members = {"ResourceConfig": {**SMALL, "VolumeSizeInGB": 1}, "Local": {"EnforceInstanceLimits": True}}
    life.detach(name, script, **members)
    life.until_logged(name, "ready")
    life.crash(name)
    life.let_go(name)
    (container,) = docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={name}").split()
    docker("wait", container)
    subprocess.run(["umount", life.home / "jobs" / name / "hosts" / "algo-1"], check=True)
    done = life("recover")
    assert done.returncode == 0, done.stderr
    assert life.job(name).status == "Completed"
    assert [path.rpartition("/")[2] for path in life.model(name)] == ["m"]
    assert_nothing_left(name)


@needs_root
def test_a_disk_that_is_full(run_job: Callable[..., Any]) -> None:
    enforced: dict[str, Any] = {"EnforceInstanceLimits": True}
    ran = run_job([], FILL, local=enforced, ResourceConfig={**SMALL, "VolumeSizeInGB": 1})
    assert "volume-size" not in ran.notes
    size, words = ran.log().split("\n", 1)
    assert 900 << 10 < int(size) <= 1 << 20
    assert "No space left on device" in words
    assert_failed("volume-overflow", ran.answer)
    # Written files are collected nevertheless, and nothing stays mounted: run_job looks.
    assert ran.model("one") == b"small\n"


@needs_root
def test_the_disk_of_a_job_whose_supervisor_was_killed(
    job_file: Callable[..., Path],
    background: Callable[[Path], Any],
    smlocal_run: Run,
    assert_nothing_left: Callable[[str], None],
) -> None:
    path = job_file(
        [],
        "echo x >/opt/ml/model/one; echo here; until [ -e /opt/ml/output/go ]; do sleep 0.1; done",
        local={"EnforceInstanceLimits": True},
        ResourceConfig={**SMALL, "VolumeSizeInGB": 1},
    )
    job = background(path)
    until(lambda: job.output() == "here\n")
    assert f"{job.home}/jobs/{job.name}/hosts/algo-1 ext4" in Path("/proc/mounts").read_text()
    job.process.kill()
    job.process.wait()
    touch_inside(job.home / "jobs" / job.name / "hosts" / "algo-1" / "output" / "go")
    assert smlocal_run("recover").returncode == 0
    answer = json.loads(smlocal_run("describe", job.name, "--json").stdout)
    assert answer["TrainingJobStatus"] == "Completed"
    assert answer["Local"]["Artifacts"]["Model"]
    assert answer["Local"]["Leftovers"] == []
    assert_nothing_left(job.name)


def test_data_that_does_not_fit(run_job: Callable[..., Any], tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with (data / "large").open("wb") as file:
        file.truncate((1 << 30) + 1)
    channel = {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}}
    ran = run_job(
        [channel], "true", local={"EnforceInstanceLimits": True}, ResourceConfig={**SMALL, "VolumeSizeInGB": 1}
    )
    assert_failed("volume-too-small", ran.answer)
    assert "volume-full" in ran.notes


def test_limits_above_what_the_machine_has(job_file: Callable[..., Path], smlocal_run: Run, tmp_path: Path) -> None:
    beyond = int(Path("/proc/sys/fs/nr_open").read_text()) + 1
    for local, words in (
        ({"Memory": "1000t"}, ["Local.Memory is", "and this machine has"]),
        ({"ShmSize": "1000t"}, ["Local.ShmSize is"]),
        ({"Cpus": 9999}, ["Local.Cpus is 9999"]),
        ({"Ulimits": {"nofile": beyond}}, [f"Local.Ulimits (nofile: {beyond})", "rlimit"]),
    ):
        path = job_file([], "true", local=local)
        done = smlocal_run("run", path.name, cwd=tmp_path)
        assert done.returncode == 3, done.stderr
        assert "[limit-unusable]" in done.stderr
        assert f"{path.name}" in done.stderr
        for word in words:
            assert word in done.stderr
    assert smlocal_run("jobs", "--json").stdout.strip() == json.dumps({"TrainingJobSummaries": []}, indent=2)


def test_the_plan_shows_them(job_file: Callable[..., Path], smlocal_run: Run, tmp_path: Path) -> None:
    path = job_file([], "true", local={"EnforceInstanceLimits": True, "ShmSize": "96m"}, ResourceConfig=SMALL)
    shown = smlocal_run("plan", path.name, cwd=tmp_path).stdout
    (line,) = (line for line in shown.splitlines() if line.startswith("Limits"))
    assert "ml.t3.medium: Memory " in line
    assert "ShmSize 96 MiB" in line
    assert "--shm-size 100663296" in smlocal_run("plan", path.name, "--script", cwd=tmp_path).stdout
    document = json.loads(smlocal_run("plan", path.name, "--json", cwd=tmp_path).stdout)
    machine = os.sysconf("SC_PHYS_PAGES") * resource.getpagesize()
    assert document["Hosts"][0]["Limits"]["Memory"] == min(4 << 30, machine >> 20 << 20)

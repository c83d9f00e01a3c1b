"""The usage of a job: measured on real containers, kept while they run, told at their end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import Run, until
from tests.kit.fixtures import touch_inside
from tests.kit.jobs import Background, channel

from smlocal.engine.engines import connect
from smlocal.jobs.usage.series import read_series
from smlocal.jobs.usage.usage_watch import series_path

TOLD = "until [ -e /opt/ml/output/go ]; do sleep 0.1; done"
HOLDS = f"head -c 100m /dev/zero | tail | {{ head -c 1 >/dev/null; {TOLD}; }}"
"""Holds 100 MiB until it is told: on a busy machine the engine may be asked only every few seconds."""
HELD = 100 << 20


pytestmark = pytest.mark.usefixtures("data")


def memory(home: Path, name: str, host: str = "algo-1") -> list[int]:
    """The memory of each point so far."""
    path = series_path(str(home / "jobs" / name), host)
    return [point.memory for point in read_series(path).points] if os.path.exists(path) else []


def let_go(job: Background, host: str = "algo-1") -> None:
    touch_inside(job.home / "jobs" / job.name / "hosts" / host / "output" / "go")


@pytest.mark.slow(2)
def test_a_job_says_what_it_used(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    smlocal_run: Run,
    assert_nothing_left: Callable[[str], None],
) -> None:
    cached = "head -c 2000000 /dev/urandom >/opt/ml/input/data/train/cache"
    script = f"{cached}; head -c 5000000 /dev/urandom >/opt/ml/model/big; {HOLDS}"
    job = background(job_file([channel()], script))
    until(lambda: sum(each >= HELD for each in memory(job.home, job.name)) > 1)
    let_go(job)
    answer = job.finish()
    assert_nothing_left(job.name)
    used = answer["Local"]["Usage"]
    (host,) = used["Hosts"]
    assert host["Name"] == "algo-1"
    assert host["InstanceType"] == {"Name": "ml.m5.large", "VCpus": 2, "MemoryMiB": 8192, "Gpus": 0}
    assert 100 <= host["MemoryPeakMiB"] < 400
    assert host["MemoryPeakMiB"] <= host["MemoryWithCachePeakMiB"]
    assert 0 < host["CpuMean"] <= host["CpuPeak"] <= os.cpu_count()
    assert host["Seconds"] > 1
    assert host["NetworkReceivedBytes"] is not None
    assert host["DiskHeldBytes"]["/opt/ml/model"] >= 5_000_000
    written = host["DiskHeldBytes"]["/opt/ml/input/data/train"]
    if os.geteuid() == 0:  # no other user may look into the engine's volumes
        assert 2_000_000 <= written < 3_000_000
    else:
        assert written is None
    assert host["GpuPeakPercent"] is None
    assert used["Notes"] == []
    (advice,) = used["Advice"]
    assert (advice["Verdict"], advice["Hosts"]) == ("fits", ["algo-1"])
    assert "ml.t3.medium" in {kind["Name"] for kind in advice["Fits"]}
    assert len(memory(job.home, job.name)) == host["Points"] > 0
    assert "memory peak 1" in smlocal_run("describe", job.name).stdout


@pytest.mark.slow(2)
@pytest.mark.skipif(Path("/sys/fs/cgroup/cgroup.controllers").exists(), reason="only cgroup v1 keeps a mark of peaks")
def test_a_peak_between_two_samples_is_seen(
    job_file: Callable[..., Path], background: Callable[..., Background]
) -> None:
    # Held for a moment only, in the middle of a second.
    job = background(job_file([channel()], f"sleep 2.4; head -c 300m /dev/zero | tail | : ; echo held; {TOLD}"))
    until(lambda: "held" in job.output())
    before = len(memory(job.home, job.name))
    until(lambda: len(memory(job.home, job.name)) > before + 1)
    let_go(job)
    (host,) = job.finish()["Local"]["Usage"]["Hosts"]
    assert 300 <= host["MemoryPeakMiB"] <= host["MemoryWithCachePeakMiB"]


@pytest.mark.slow(2)
def test_every_host_is_measured_by_itself(job_file: Callable[..., Path], background: Callable[..., Background]) -> None:
    is_second = 'grep -q \'"current_host": *"algo-2"\' /opt/ml/input/config/resourceconfig.json'
    resources = {"InstanceType": "ml.m5.large", "InstanceCount": 2}
    job = background(job_file([channel()], f"if {is_second}; then {HOLDS}; else {TOLD}; fi", ResourceConfig=resources))
    until(lambda: bool(memory(job.home, job.name)))
    until(lambda: any(each >= HELD for each in memory(job.home, job.name, "algo-2")))
    for host in ("algo-1", "algo-2"):
        let_go(job, host)
    one, two = job.finish()["Local"]["Usage"]["Hosts"]
    assert (one["Name"], two["Name"]) == ("algo-1", "algo-2")
    assert one["MemoryPeakMiB"] < 50
    assert two["MemoryPeakMiB"] >= 100


@pytest.mark.slow(2)
def test_a_job_that_is_taken_up_is_measured_on(
    tmp_path: Path,
    smlocal_home: Path,
    smlocal_run: Run,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "smlocal", "run", "--image", image("sh"), "--name", "usage-adopted"),
            *("--env", "SCRIPT=while [ ! -e /opt/ml/model/end ]; do sleep 0.1; done"),
        ],
        cwd=tmp_path,
        env={**os.environ, "SMLOCAL_HOME": str(smlocal_home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: len(memory(smlocal_home, "usage-adopted")) > 1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = len(memory(smlocal_home, "usage-adopted"))
    smlocal_run("describe", "usage-adopted")  # whoever names an orphan has it taken up
    until(lambda: len(memory(smlocal_home, "usage-adopted")) > before)
    touch_inside(smlocal_home / "jobs" / "usage-adopted" / "hosts" / "algo-1" / "model" / "end")
    assert smlocal_run("wait", "usage-adopted").returncode == 0
    assert_nothing_left("usage-adopted")
    used = json.loads(smlocal_run("describe", "usage-adopted", "--json").stdout)["Local"]["Usage"]
    series = read_series(used["Hosts"][0]["Series"])
    assert len(series.containers) == 1
    assert len(series.points) == used["Hosts"][0]["Points"] > before
    moments = [point.at for point in series.points]
    assert moments == sorted(moments)
    assert used["Hosts"][0]["MemoryPeakMiB"] < 50


@pytest.mark.slow(2)
def test_the_threads_end_with_their_containers(tmp_path: Path, image: Callable[[str], str]) -> None:
    code = """
import sys, threading, time
from smlocal.cli.main import run_command_line
assert run_command_line(sys.argv[1:]) == 0
for _ in range(600):
    left = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    if not left:
        sys.exit(0)
    time.sleep(0.1)
sys.exit(f"left: {left}")
"""
    ended = subprocess.run(
        [
            *(sys.executable, "-c", code, "run", "--image", image("sh"), "--name", "usage-threads"),
            *("--env", "SCRIPT=sleep 3", "--instance-count", "2"),
        ],
        cwd=tmp_path,
        env={**os.environ, "SMLOCAL_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


def test_a_container_that_does_not_run_has_no_statistics(
    docker: Callable[..., str], image: Callable[[str], str]
) -> None:
    engine = connect()
    container = docker("create", "--label", "smlocal.test.usage", "--entrypoint", "sleep", image("sh"), "600").strip()
    try:
        assert engine.statistics(container) is None
        docker("start", container)
        seen = engine.statistics(container)
        assert seen is not None
        assert seen.cpu_seconds > 0
        assert seen.memory > seen.cache
        assert seen.cpus == os.cpu_count()
        docker("kill", container)
        assert engine.statistics(container) is None
    finally:
        docker("rm", "--force", container)

"""GPUs, by a program that stands in for the driver's: it writes what the real one writes, and keeps running like it."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.jobs.usage.sampler import GpuReader, GpuUsage, highest

MIB = 1024 * 1024


@pytest.fixture
def nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    def make(script: str) -> Path:
        tool = tmp_path / "nvidia-smi"
        tool.write_text(f'#!/bin/sh\necho $$ >{tmp_path}/pid\necho "$@" >{tmp_path}/arguments\n{script}\n')
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        return tmp_path

    return make


def first_reading(reader: GpuReader) -> GpuUsage | None:
    for _ in range(600):
        if (use := reader.read()) is not None:
            return use
        time.sleep(0.05)
    return None


def test_the_busiest_of_the_jobs_gpus(nvidia_smi: Callable[[str], Path]) -> None:
    folder = nvidia_smi("printf '10, 300\\n70, 200\\n'; exec sleep 600")
    reader = GpuReader(["2", "3"])
    try:
        assert first_reading(reader) == GpuUsage(percent=70, memory=300 * MIB)
        assert reader.read() is None
        arguments = (folder / "arguments").read_text().split()
        assert "--query-gpu=utilization.gpu,memory.used" in arguments
        assert "--id=2,3" in arguments
        process = int((folder / "pid").read_text())
    finally:
        reader.close()
    reader.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_without_the_tool_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    reader = GpuReader(["0"])
    assert reader.read() is None
    reader.close()


def test_a_tool_that_fails_says_nothing(nvidia_smi: Callable[[str], Path]) -> None:
    folder = nvidia_smi("echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.'; exit 9")
    reader = GpuReader(["0"])
    try:
        for _ in range(600):
            if (folder / "arguments").exists():
                break
            time.sleep(0.05)
        assert reader.read() is None
    finally:
        reader.close()


@pytest.mark.parametrize(
    ("lines", "use"),
    [
        ([b"5, 6", b"50, 2", b""], GpuUsage(percent=50, memory=6 * MIB)),
        ([b"[N/A], 6", b"4, 5"], GpuUsage(percent=4, memory=5 * MIB)),
        ([b"[Not Supported], [Not Supported]"], None),
        ([b"No devices were found"], None),
        ([], None),
    ],
)
def test_lines_of_the_tool(lines: list[bytes], use: GpuUsage | None) -> None:
    assert highest(lines) == use

"""A container leaves a model that takes long to pack: every way to end the job works meanwhile, and nothing is lost.

The file has eight terabytes, of which nothing was written. Packed, its zeros are eight gigabytes.
"""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRIPT = "truncate -s 8192G /opt/ml/model/hole; echo done >/opt/ml/model/small"
SIZE = 8192 << 30
Clean = Callable[[str], None]


def packs(life: Any, name: str) -> bool:
    """True while the unfinished archive is there."""
    folder = life.folder / "out" / name / "output"
    return folder.exists() and any("partial" in path.name for path in folder.iterdir())


def assert_kept(life: Any, name: str) -> None:
    answer = life.describe(name)
    assert (answer["TrainingJobStatus"], answer["SecondaryStatus"]) == ("Stopped", "Stopped")
    artifacts = answer["Local"]["Artifacts"]
    assert artifacts["Model"] is None
    model = Path(artifacts["Kept"], "algo-1", "model")
    assert (model / "hole").stat().st_size == SIZE
    assert (model / "small").read_text() == "done\n"
    assert any("smlocal pack" in note for note in artifacts["Notes"])
    assert list((life.folder / "out" / name / "output").iterdir()) == []


def test_a_second_ctrl_c_ends_packing(life: Any, assert_nothing_left: Clean) -> None:
    command = life.begin("run", life.job_file("packing-twice", SCRIPT))
    life.until(lambda: packs(life, "packing-twice"))
    command.send_signal(signal.SIGINT)
    assert any("packing continues (Ctrl-C again to stop it)" in line for line in command.stderr)
    assert life.job("packing-twice").status == "Stopping"
    assert packs(life, "packing-twice")  # as on the service, a job that is stopped uploads what it can
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=240)
    assert command.returncode == 130
    assert "smlocal pack packing-twice" in said
    assert_kept(life, "packing-twice")
    assert_nothing_left("packing-twice")


def test_a_stop_without_grace_ends_packing(life: Any, assert_nothing_left: Clean) -> None:
    life.detach("packing-ungraceful", SCRIPT)
    life.until(lambda: packs(life, "packing-ungraceful"))
    assert life("stop", "packing-ungraceful", "--grace", "0", "--wait").returncode == 0
    assert_kept(life, "packing-ungraceful")
    assert_nothing_left("packing-ungraceful")


@pytest.mark.slow(1)
def test_what_was_kept_is_packed_later(life: Any, assert_nothing_left: Clean) -> None:
    script = "truncate -s 512G /opt/ml/model/hole"
    life.detach("packing-later", script)
    life.until(lambda: packs(life, "packing-later") or life.job("packing-later").status.terminal)
    assert life("stop", "packing-later", "--grace", "0", "--wait").returncode == 0
    packed = life("pack", "packing-later")
    assert packed.returncode == 0, packed.stderr
    assert life.describe("packing-later")["Local"]["Artifacts"]["Kept"] is None
    assert (life.folder / "out/packing-later/output/model.tar.gz").stat().st_size > 512 << 20
    assert_nothing_left("packing-later")


@pytest.mark.parametrize("compression", ["GZIP", "NONE"])
def test_a_job_that_packs_its_output_can_be_removed(life: Any, compression: str, assert_nothing_left: Clean) -> None:
    script = "mkdir -p /opt/ml/output/data; truncate -s 8192G /opt/ml/output/data/hole; echo done >/opt/ml/model/small"
    output = {"S3OutputPath": "./out", "CompressionType": compression}
    life.detach("packing-removed", script, OutputDataConfig=output)
    life.until(lambda: packs(life, "packing-removed"))
    removed = life("rm", "--stop", "packing-removed")
    assert removed.returncode == 0, removed.stderr
    assert life.store.count() == 0
    assert_nothing_left("packing-removed")

"""The supervisor is killed, or the engine is lost: the job is found again or ended, and nothing is left."""

import os
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.jobs.processing.conftest import ROOT, an_input, an_output

Clean = Callable[[str], None]
_WAITS = "until [ -e /opt/ml/output/go ]; do sleep 0.1; done"


@pytest.mark.slow(2)
def test_a_job_whose_supervisor_is_killed_is_found_again(
    processing: Any, life: Any, assert_nothing_left: Clean
) -> None:
    processing.detach(
        "processing-orphan",
        f"echo a > {ROOT}/live/a; echo ready; {_WAITS}; echo b > {ROOT}/late/b; printf m > /opt/ml/output/message",
        outputs=[an_output("live", S3UploadMode="Continuous"), an_output("late")],
    )
    life.until_logged("processing-orphan", "ready")
    life.crash("processing-orphan")
    assert life.describe("processing-orphan")["ProcessingJobStatus"] == "InProgress"
    life.let_go("processing-orphan")
    assert life("wait", "processing-orphan").returncode == 0
    answer = life.describe("processing-orphan")
    assert (answer["ProcessingJobStatus"], answer["ExitMessage"]) == ("Completed", "m")
    assert processing.files() == {"late/b": "b\n", "live/a": "a\n"}
    assert_nothing_left("processing-orphan")


@pytest.mark.slow(2)
def test_a_stop_of_a_job_without_a_supervisor(processing: Any, life: Any, assert_nothing_left: Clean) -> None:
    processing.detach(
        "processing-stop-orphan",
        f"trap 'echo s > {ROOT}/o/s; exit 1' TERM; echo ready\n{_WAITS}",
        outputs=[an_output("o")],
    )
    life.until_logged("processing-stop-orphan", "ready")
    life.crash("processing-stop-orphan")
    assert life("stop", "processing-stop-orphan", "--wait").returncode == 0
    assert life.describe("processing-stop-orphan")["ProcessingJobStatus"] == "Stopped"
    assert processing.files() == {"o/s": "s\n"}
    assert_nothing_left("processing-stop-orphan")


@pytest.mark.slow(12)
def test_killed_at_any_moment_it_ends_and_leaves_nothing(
    processing: Any, life: Any, assert_nothing_left: Clean
) -> None:
    (life.folder / "data").mkdir()
    (life.folder / "data" / "a").write_text("a")
    chance = random.Random(seed := os.urandom(4))
    for number in range(int(os.environ.get("SMLOCAL_CRASHES", "6"))):
        name = f"processing-any-{number}"
        path = processing.job_file(
            name,
            f"cp {ROOT}/data/a {ROOT}/o/a; printf done > /opt/ml/output/message",
            inputs=[an_input("data", "./data")],
            outputs=[an_output("o", f"./out/{number}", S3UploadMode=chance.choice(["Continuous", "EndOfJob"]))],
        )
        life.commands.append(life.begin("run", "--detach", path))
        life.until(lambda number=number: life.store.count() > number)
        time.sleep(chance.uniform(0, 1.2))
        life.crash(name)
        life("wait", name)
        answer = life.describe(name)
        assert answer["ProcessingJobStatus"] in {"Completed", "Failed"}, (seed, answer)
        if answer["ProcessingJobStatus"] == "Completed":
            assert answer["ExitMessage"] == "done", seed
            assert processing.files(f"out/{number}") == {"a": "a"}, seed
        else:
            assert answer["FailureReason"].startswith("InternalServerError: "), (seed, answer)
        assert_nothing_left(name)


@pytest.mark.slow(4)
def test_a_job_whose_engine_is_lost_fails_and_leaves_nothing(
    processing: Any, relayed: Any, relay: Any, assert_nothing_left: Clean
) -> None:
    processing.detach("processing-engine", "echo ready; sleep 600")
    relayed.until_logged("processing-engine", "ready")
    relay.vanish()
    relayed.until(lambda: relayed.job("processing-engine").status.terminal)
    relay.come_back()
    answer = relayed.describe("processing-engine")
    assert answer["ProcessingJobStatus"] == "Failed"
    assert answer["FailureReason"] == "InternalServerError: We encountered an internal error. Please try again."
    assert relayed("recover").returncode == 0
    assert_nothing_left("processing-engine")


@pytest.mark.slow(2)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_an_output_folder_on_a_full_disk_fails_the_upload_and_is_kept(
    processing: Any, life: Any, small_disk: Any, assert_nothing_left: Clean
) -> None:
    answer = processing.run_job(
        "processing-disk",
        f"head -c 30000000 /dev/zero > {ROOT}/o/big",
        outputs=[an_output("o", str(small_disk / "out"))],
    )
    assert answer["FailureReason"] == "ClientError: Artifact upload failed:Insufficient disk space"
    assert answer["Local"]["Artifacts"]["NotSaved"][f"{ROOT}/o"]
    assert_nothing_left("processing-disk")
    packed = life("pack", "processing-disk", "--output", "packed")
    assert packed.returncode == 0, packed.stderr
    assert [path.name for path in (life.folder / "packed").rglob("*") if path.is_file()] == ["big"]

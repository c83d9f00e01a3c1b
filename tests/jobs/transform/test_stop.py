"""Transform jobs that are stopped, or whose supervisor is killed, at any moment."""

from collections.abc import Callable
from typing import Any

import pytest

Clean = Callable[[str], None]


def begin(transforms: Any, life: Any, name: str, **members: Any) -> None:
    life.commands.append(life.begin("run", "--detach", transforms.job_file(name, **members)))
    life.until(lambda: life.store.count() > 0 and life.job(name).phase == "Training")


def test_a_stopped_job_has_no_output(transforms: Any, life: Any, assert_nothing_left: Clean) -> None:
    transforms.data({"a.csv": "a\n", "b.csv": "mute\n"})
    begin(transforms, life, "transform-stopped")
    assert life("stop", "transform-stopped", "--wait").returncode == 0
    described = life.describe("transform-stopped")
    assert described["TransformJobStatus"] == "Stopped"
    assert "FailureReason" not in described
    assert not (life.folder / "out").exists()
    assert_nothing_left("transform-stopped")
    again = life("stop", "transform-stopped")
    assert (again.returncode, "has ended: it is Stopped" in again.stderr) == (2, True), again.stderr


@pytest.mark.slow(3)
def test_a_supervisor_that_is_killed_is_replaced(transforms: Any, life: Any, assert_nothing_left: Clean) -> None:
    """The work begins again; a record that killed nothing is sent twice."""
    transforms.data({"a.csv": "a\n", "b.csv": "wait\n"})
    begin(transforms, life, "transform-crash", variables={"ANSWER": "gate"})
    life.until(lambda: "waits" in life.log("transform-crash"))
    life.crash("transform-crash")
    life("describe", "transform-crash")  # begins another one
    life.until(lambda: life.log("transform-crash").count("waits") >= 2)
    transforms.open_gate("transform-crash")
    life.until(lambda: life.job("transform-crash").status.terminal)
    assert life.job("transform-crash").status == "Completed", life.describe("transform-crash")
    assert transforms.output() == {"a.csv.out": "A\n", "b.csv.out": "WAIT\n"}
    assert_nothing_left("transform-crash")

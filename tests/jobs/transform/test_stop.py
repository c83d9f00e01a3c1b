"""Transform jobs that are stopped, or whose supervisor is killed, at any moment."""

import json
from collections.abc import Callable
from typing import Any

import pytest

Clean = Callable[[str], None]


def begin(transforms: Any, life: Any, name: str, **members: Any) -> None:
    life.commands.append(life.begin("run", "--detach", transforms.job_file(name, **members)))
    life.until(lambda: life.store.count() > 0 and life.job(name).phase == "Training")


@pytest.mark.slow(1)
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
def test_a_supervisor_that_is_killed_is_replaced(
    transforms: Any, life: Any, docker: Callable[..., str], assert_nothing_left: Clean
) -> None:
    """The work begins again; a record that killed nothing is sent twice."""
    transforms.data({"a.csv": "a\n", "b.csv": "wait\n"})
    begin(transforms, life, "transform-crash", variables={"ANSWER": "gate"})
    life.until(lambda: "waits" in life.log("transform-crash"))
    life.crash("transform-crash")
    life("describe", "transform-crash")  # begins another one
    life.until(lambda: life.log("transform-crash").count("waits") >= 2)
    plan = json.loads((life.home / "jobs" / "transform-crash" / "plan.json").read_text())
    docker("exec", plan["Hosts"][0]["Container"], "touch", "/tmp/go")
    life.until(lambda: life.job("transform-crash").status.terminal)
    assert life.job("transform-crash").status == "Completed", life.describe("transform-crash")
    assert transforms.output() == {"a.csv.out": "A\n", "b.csv.out": "WAIT\n"}
    assert_nothing_left("transform-crash")


@pytest.mark.slow(3)
def test_a_supervisor_that_is_killed_at_the_end_is_replaced(
    transforms: Any, life: Any, assert_nothing_left: Clean
) -> None:
    """The server does not end at SIGTERM, so there is time to kill."""
    transforms.data({"a.csv": "a\n"})
    path = transforms.job_file("transform-end", variables={"ON_TERM": "ignore"})
    life.commands.append(life.begin("run", "--detach", path))
    life.until(lambda: life.store.count() > 0 and life.job("transform-end").phase == "Uploading")
    life.crash("transform-end")
    life("describe", "transform-end")
    life.until(lambda: life.job("transform-end").status.terminal)
    assert life.job("transform-end").status == "Completed", life.describe("transform-end")
    assert transforms.output() == {"a.csv.out": "A\n"}
    assert_nothing_left("transform-end")


@pytest.mark.slow(1)
def test_a_job_is_run_again(transforms: Any, life: Any) -> None:
    transforms.data({"a.csv": "a\n"})
    assert transforms.run("transform-first").returncode == 0
    again = life("rerun", "transform-first", "--name", "transform-again", "--env", "ANSWER=sizes")
    assert again.returncode == 0, again.stderr
    assert transforms.output()["a.csv.out"].startswith("2 ")
    refused = life("submit", life.folder / "transform-first.json")
    assert (refused.returncode, "[is-a-transform-job]" in refused.stderr) == (2, True), refused.stderr
    checked = life("check", life.folder / "transform-first.json", "--static")
    assert (checked.returncode, "is checked as that of an endpoint" in checked.stderr) == (0, True), checked.stderr
    refused = life("deploy", life.folder / "transform-first.json")
    assert (refused.returncode, "[not-an-endpoint]" in refused.stderr) == (2, True), refused.stderr


def test_objects_in_s3(transforms: Any, life: Any, s3: Any) -> None:
    """They are fetched with the credentials of this machine, one after the other."""
    bucket = s3.make_bucket()
    s3.put(bucket, "in/a.csv", b"a\n")
    s3.put(bucket, "in/deep/b.csv", b"b\n")
    life.environment |= s3.environment
    output = transforms.completed("transform-s3", objects={"S3Uri": f"s3://{bucket}/in/"})
    assert output == {"a.csv.out": "A\n", "deep/b.csv.out": "B\n"}
    log = transforms.data_log("transform-s3")
    assert len(log) == 1

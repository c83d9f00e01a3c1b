"""The effect of a lost engine, or of replicas that fail together, on a job of replicas."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.contract.ai_platform.scripts import COUNTED, SLEEPS
from tests.kit.engine_relay import EngineRelay

Clean = Callable[[str], None]


@pytest.fixture
def relay() -> Iterator[EngineRelay]:
    with TemporaryDirectory(prefix="smlocal-relay-") as folder:  # a short path: a socket's may have 107 characters
        relay = EngineRelay(Path(folder) / "engine.sock")
        yield relay
        relay.vanish()


def test_a_lost_engine_is_an_internal_error_and_the_job_is_tried_again(
    replicas: Any, relay: EngineRelay, assert_nothing_left: Clean
) -> None:
    relayed = replace(replicas, environment={"DOCKER_HOST": relay.address})
    script = f"{COUNTED} [ $n = 1 ] || exit 0; {SLEEPS}"
    relayed.begin_job(relayed.custom_job("aip-engine-lost", (1, script)))
    relayed.until_logged("aip-engine-lost", "start 1\n", "workerpool0-0")
    relay.vanish()
    relayed.until(lambda: ("internal-error", None, "retry-job") in relayed.decisions("aip-engine-lost"))
    relay.come_back()
    assert relayed.finished("aip-engine-lost")["state"] == "JOB_STATE_SUCCEEDED"
    decided = [each for each in relayed.entries("aip-engine-lost") if each["Decision"] != "nothing"]
    assert [(each["Happened"], each["Decision"]) for each in decided] == [
        ("internal-error", "retry-job"),
        ("exited", "succeed"),
    ]
    assert relayed.log("aip-engine-lost", "workerpool0-0").endswith("smlocal: attempt 2 of the job\nstart 2\n")
    assert_nothing_left("aip-engine-lost")


@pytest.mark.slow(2)
def test_workers_that_are_killed_in_the_same_instant_are_restarted(
    replicas: Any, docker: Callable[..., str], assert_nothing_left: Clean
) -> None:
    job, hosts = "aip-together", [f"workerpool1-{number}" for number in range(3)]
    worker = "echo up; until [ -e /gcs/b/go ]; do sleep 0.05; done"
    primary = "until [ -e /gcs/b/end ]; do sleep 0.05; done"
    replicas.begin_job(replicas.custom_job(job, (1, primary), (3, worker)))
    for host in hosts:
        replicas.until_logged(job, "up\n", host)
    labels = [("--filter", f"label=smlocal.job={job}", "--filter", f"label=smlocal.host={host}") for host in hosts]
    docker("kill", *(docker("ps", "--quiet", *each).strip() for each in labels))
    for host in hosts:
        replicas.until(lambda host=host: replicas.log(job, host).count("up\n") == 2)
    (replicas.bucket / "go").touch()
    for number in range(3):
        name = f"workerpool1-{number}"
        ends = [("exited", 137, "restart-replica"), ("exited", 0, "nothing")]
        replicas.until(lambda name=name, ends=ends: replicas.decisions(job, name) == ends)
    (replicas.bucket / "end").touch()
    assert replicas.finished(job)["state"] == "JOB_STATE_SUCCEEDED"
    assert_nothing_left(job)

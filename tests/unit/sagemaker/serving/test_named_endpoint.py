"""Endpoints under the names that clients gave them, while their jobs come and go."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from smlocal.jobs.control.requests import StopRequests
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import Lease
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.named_endpoint import (
    ENDPOINT,
    all_endpoints,
    body_of,
    delete_endpoint,
    find_endpoint,
    free_job_name,
    is_settled,
    settle,
)
from smlocal.terms.statuses import JobPhase, JobStatus, PhaseMessage


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "home")) as store:
        yield store


class World:
    """Jobs without containers."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.supervisors: list[tuple[StopRequests, Lease]] = []
        """Nobody takes their jobs for abandoned."""

    def job(self, name: str, endpoint: str | None = None, *, platform: str = facts.NAME) -> None:
        requests = StopRequests()
        lease = self.store.create(
            name,
            run_id="0" * 8,
            created=1.0,
            documents={"request": {"EndpointName": endpoint or name}},
            supervisor_pid=os.getpid(),
            arn=f"arn:{endpoint or name}",
            platform=platform,
            begin=requests.accept_wakeups,
        )
        self.supervisors.append((requests, lease))

    def serve(self, name: str) -> None:
        self.move(name, JobStatus.IN_PROGRESS, JobPhase.TRAINING)

    def end(self, name: str, status: JobStatus = JobStatus.STOPPED, reason: str | None = None) -> None:
        phase = JobPhase.STOPPED if status is JobStatus.STOPPED else JobPhase.FAILED
        self.move(name, status, phase, reason)

    def move(self, name: str, status: JobStatus, phase: JobPhase, reason: str | None = None) -> None:
        self.store.transition(
            name, status=status, phase=phase, message=PhaseMessage.TRAINING, at=2.0, failure_reason=reason
        )

    def resource(self, name: str, job: str, **more: object) -> None:
        body = {**body_of("config", job), **more}
        self.store.add_resource(
            StoredResource(kind=ENDPOINT, name=name, arn=f"arn:{name}", created=1.0, modified=1.0, body=body)
        )

    def status(self, name: str) -> str | None:
        found = find_endpoint(self.store, name)
        return None if found is None else found.status


@pytest.fixture
def world(store: Store) -> Iterator[World]:
    world = World(store)
    yield world
    for requests, lease in world.supervisors:
        requests.__exit__(None, None, None)
        lease.release()


def test_its_status_is_that_of_its_job(world: World) -> None:
    world.job("e")
    world.resource("e", "e")
    assert world.status("e") == "Creating"
    assert not is_settled(world.store, "e")
    world.serve("e")
    assert world.status("e") == "InService"
    assert is_settled(world.store, "e")
    world.end("e", JobStatus.FAILED, "why")
    found = find_endpoint(world.store, "e")
    assert found is not None
    assert (found.status, found.failure_reason, found.config) == ("Failed", "why", "config")


def test_one_deployed_by_hand_is_found_until_it_was_stopped(world: World) -> None:
    world.job("e")
    world.serve("e")
    world.job("trained", platform="sagemaker")
    assert world.status("e") == "InService"
    assert world.status("trained") is None
    assert [each.name for each in all_endpoints(world.store)] == ["e"]
    world.end("e")
    assert world.status("e") is None
    assert is_settled(world.store, "e")


def test_one_whose_resource_was_not_written_has_the_tags_of_its_job(world: World) -> None:
    tags = [{"Key": "team", "Value": "a"}]
    world.job("e-2", "e")
    world.store.change_document("e-2", "request", lambda request: {**request, "Tags": tags})
    settle(world.store, "e", job="e-2")
    resource = world.store.resource(ENDPOINT, "e")
    assert resource is not None
    assert resource.body["Tags"] == tags


def test_an_update_takes_over_when_it_is_in_service_and_the_one_before_is_stopped(world: World) -> None:
    world.job("e")
    world.serve("e")
    world.job("e-2", "e")
    world.resource("e", "e", Update={"Job": "e-2", "EndpointConfigName": "later", "StartTime": 1.0})
    found = find_endpoint(world.store, "e")
    assert found is not None
    assert (found.status, found.config, found.job.name) == ("Updating", "config", "e")
    world.serve("e-2")
    found = find_endpoint(world.store, "e")
    assert found is not None
    assert (found.status, found.config, found.job.name) == ("InService", "later", "e-2")
    assert found.arn == "arn:e"
    assert world.store.get("e").status is JobStatus.STOPPING
    world.end("e")
    assert world.status("e") == "InService"
    resource = world.store.resource(ENDPOINT, "e")
    assert resource is not None
    assert resource.body["Former"] == []
    assert [each.name for each in all_endpoints(world.store)] == ["e"]


def test_an_update_that_fails_leaves_its_reason(world: World) -> None:
    world.job("e")
    world.serve("e")
    world.job("e-2", "e")
    world.resource("e", "e", Update={"Job": "e-2", "EndpointConfigName": "later", "StartTime": 1.0})
    world.end("e-2", JobStatus.FAILED, "no ping")
    found = find_endpoint(world.store, "e")
    assert found is not None
    assert (found.status, found.config, found.failure_reason) == ("InService", "config", "no ping")
    assert found.job.name == "e"
    assert found.update is None


def test_a_deleted_one_is_gone_when_its_job_has_ended(world: World) -> None:
    world.job("e")
    world.serve("e")
    world.resource("e", "e")
    found = find_endpoint(world.store, "e")
    assert found is not None
    delete_endpoint(world.store, found)
    assert world.status("e") == "Deleting"
    world.end("e")
    assert world.status("e") is None
    assert world.store.resource(ENDPOINT, "e") is None
    assert free_job_name(world.store, "e") == ("e", True)


def test_a_failed_one_is_gone_at_once_and_its_job_stays_for_its_log(world: World) -> None:
    world.job("e")
    world.end("e", JobStatus.FAILED, "why")
    assert world.status("e") == "Failed"
    found = find_endpoint(world.store, "e")
    assert found is not None
    delete_endpoint(world.store, found)
    assert world.status("e") is None
    assert all_endpoints(world.store) == []
    assert world.store.get("e").status is JobStatus.FAILED


def test_one_whose_job_was_removed_is_gone(world: World) -> None:
    world.job("e")
    world.end("e")
    world.resource("e", "e")
    world.store.remove("e")
    assert world.status("e") is None
    assert world.store.resource(ENDPOINT, "e") is None


def test_names_of_jobs_avoid_those_of_others(world: World) -> None:
    long = "a" * 63
    world.job("e", platform="sagemaker")
    assert free_job_name(world.store, "e") == ("e-2", False)
    world.job("e-2", "e-2")
    assert free_job_name(world.store, "e") == ("e-3", False)
    world.job(long)
    assert free_job_name(world.store, long) == ("a" * 61 + "-2", False)
    world.end(long, JobStatus.FAILED)
    world.resource(long, long)
    assert free_job_name(world.store, long) == ("a" * 61 + "-2", False)


def test_an_update_whose_server_was_killed_before_it_was_written_down_takes_over(world: World) -> None:
    world.job("e")
    world.serve("e")
    world.resource("e", "e")
    world.job("e-2", "e")
    world.serve("e-2")
    settle(world.store, "e", job="e-2")  # as its supervisor does
    found = find_endpoint(world.store, "e")
    assert found is not None
    assert (found.job.name, found.status) == ("e-2", "InService")
    assert world.store.get("e").status is JobStatus.STOPPING
    settle(world.store, "e", job="e-2")
    settle(world.store, "e", job="e")
    assert world.status("e") == "InService"
    assert world.store.get("e-2").status is JobStatus.IN_PROGRESS


def test_a_new_one_whose_server_was_killed_before_it_was_written_down_is_found(world: World) -> None:
    world.job("e", platform="sagemaker")
    world.job("e-2", "e")
    world.serve("e-2")
    settle(world.store, "e", job="e-2")
    found = find_endpoint(world.store, "e")
    assert found is not None
    assert (found.job.name, found.status, found.arn) == ("e-2", "InService", "arn:e")


def test_a_deletion_that_was_broken_off_goes_on(world: World) -> None:
    world.job("e")
    world.serve("e")
    world.resource("e", "e", Deleting=True)
    assert world.status("e") == "Deleting"
    assert world.store.get("e").status is JobStatus.STOPPING

"""Jobs that wait to be started: which begin, and how one that waits is stopped."""

from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.errors import InstanceLimitError, JobFinishedError, NameInUseError
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import supervised
from smlocal.terms.statuses import COMPLETED, JobPhase, JobStatus, PhaseMessage

Wait = Callable[..., None]


@pytest.fixture
def wait(store: Store) -> Wait:
    """Records a waiting job."""

    def record(name: str, *, instances: int = 1, check: Callable[[int], None] = lambda _: None) -> None:
        store.add_pending(
            name,
            run_id="0" * 8,
            created=1000.0,
            documents={"request": {"TrainingJobName": name}},
            arn=f"arn:{name.lower()}",
            model_uri=f"s3://bucket/{name}",
            instances=instances,
            check=check,
        )

    return record


def end(store: Store, name: str) -> None:
    store.transition(name, status=COMPLETED.status, phase=COMPLETED.phase, message=COMPLETED.message, at=3000.0)


def test_a_waiting_job_is_recorded_with_what_describe_needs(store: Store, wait: Wait, home: Path) -> None:
    wait("Job-1", instances=2)
    record = store.get("Job-1")
    assert (record.status, record.phase) == (JobStatus.IN_PROGRESS, JobPhase.PENDING)
    assert (record.pending, record.supervisor_pid, record.instances) == (True, None, 2)
    assert (record.arn, record.model_uri) == ("arn:job-1", "s3://bucket/Job-1")
    stored = store.read("Job-1", ["request", "plan"])
    assert stored.documents == {"request": {"TrainingJobName": "Job-1"}}
    assert [(each.status, each.message) for each in stored.transitions] == [(JobPhase.PENDING, PhaseMessage.WAITING)]
    assert not supervised(store.directory("Job-1"))
    assert (home / "jobs" / "Job-1").is_dir()
    assert store.name_of("arn:job-1") == "Job-1"
    with pytest.raises(NameInUseError):
        wait("Job-1")


def test_a_refused_job_leaves_nothing(store: Store, wait: Wait, home: Path) -> None:
    wait("first", instances=3)
    seen: list[int] = []

    def refuse(used: int) -> None:
        seen.append(used)
        raise InstanceLimitError("too many")

    with pytest.raises(InstanceLimitError):
        wait("second", check=refuse)
    assert seen == [3]
    assert store.names() == ["first"]
    assert not (home / "jobs" / "second").exists()


def test_the_oldest_begin_while_instances_are_free(store: Store, wait: Wait) -> None:
    for name, instances in (("a", 2), ("b", 1), ("c", 3), ("d", 1)):
        wait(name, instances=instances)
    assert store.start_pending(now=lambda: 1001.0, limit=4) == ["a", "b"]  # c does not fit, and d is behind it
    assert store.start_pending(now=lambda: 1001.0, limit=4) == []
    begun = store.get("a")
    assert (begun.phase, begun.pending) == (JobPhase.STARTING, False)
    assert [(each.status, each.started, each.ended) for each in store.transitions("a")] == [
        (JobPhase.PENDING, 1000.0, 1001.0),
        (JobPhase.STARTING, 1001.0, None),
    ]
    end(store, "a")
    assert store.start_pending(now=lambda: 1002.0, limit=4) == ["c"]
    assert store.start_pending(now=lambda: 1003.0, limit=None) == ["d"]


def test_a_job_that_uses_no_instance_is_held_up_by_nobody(store: Store, wait: Wait) -> None:
    for name, instances in (("a", 1), ("b", 1), ("endpoint", 0), ("c", 1)):
        wait(name, instances=instances)
    assert store.start_pending(now=lambda: 1001.0, limit=1) == ["a", "endpoint"]
    end(store, "a")
    assert store.start_pending(now=lambda: 1002.0, limit=1) == ["b"]


def test_jobs_of_other_commands_count(store: Store, wait: Wait) -> None:
    store.create("run", run_id="0", created=1.0, documents={}, supervisor_pid=1, instances=2).release()
    wait("waiting")
    assert store.start_pending(now=lambda: 1001.0, limit=2) == []
    end(store, "run")
    assert store.start_pending(now=lambda: 1001.0, limit=2) == ["waiting"]


def test_a_waiting_job_is_stopped_at_once(store: Store, wait: Wait) -> None:
    wait("job")
    assert store.stop_pending("job", at=1002.0, kind="stop", data={"Cause": "request"}, documents={"local": {}})
    record = store.get("job")
    assert (record.status, record.started, record.ended) == (JobStatus.STOPPED, None, 1002.0)
    assert [each.status for each in store.transitions("job")] == [
        JobPhase.PENDING,
        JobPhase.STOPPING,
        JobPhase.STOPPED,
    ]
    assert [event.kind for event in store.events("job")] == ["stop"]
    assert store.document("job", "local") == {}
    assert store.start_pending(now=lambda: 1003.0, limit=None) == []
    with pytest.raises(JobFinishedError):
        store.add_request("job", at=1.0, kind="stop", data={})


def test_a_job_that_has_begun_is_not_stopped_as_a_waiting_one(store: Store, wait: Wait) -> None:
    wait("job")
    store.start_pending(now=lambda: 1001.0, limit=None)
    assert not store.stop_pending("job", at=1002.0, kind="stop", data={}, documents={"local": {}})
    assert store.get("job").status is JobStatus.IN_PROGRESS
    assert store.document("job", "local") is None

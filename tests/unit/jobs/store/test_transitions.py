from itertools import pairwise
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.errors import JobFinishedError, JobUnknownError
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord, Transition
from smlocal.terms.statuses import JobPhase, JobStatus, PhaseMessage

GOING = JobStatus.IN_PROGRESS
PHASES = [
    JobPhase.STARTING,
    JobPhase.DOWNLOADING,
    JobPhase.TRAINING,
    JobPhase.INTERRUPTED,
    JobPhase.UPLOADING,
]


def move(store: Store, job: str, secondary: JobPhase, at: float, message: str = "m") -> JobRecord:
    return store.transition(job, status=GOING, phase=secondary, message=message, at=at)


def test_a_new_job_is_starting(store: Store, job: str) -> None:
    assert store.get(job) == JobRecord(
        name=job,
        status=GOING,
        phase=JobPhase.STARTING,
        created=1000.0,
        modified=1000.0,
        started=None,
        ended=None,
        failure_reason=None,
        supervisor_pid=42,
        run_id="0123abcd",
        arn="",
        model_uri="",
        instances=1,
        platform="sagemaker",
    )
    assert store.transitions(job) == [
        Transition(status=JobPhase.STARTING, started=1000.0, ended=None, message=PhaseMessage.STARTING)
    ]


def test_a_whole_life_as_describe_shows_it(store: Store, job: str) -> None:
    move(store, job, JobPhase.STARTING, 1001.0, "Preparing the instances for training")
    store.transition(
        job,
        status=GOING,
        phase=JobPhase.DOWNLOADING,
        message="Downloading input data",
        at=1002.0004,
        start_training=True,
    )
    move(store, job, JobPhase.DOWNLOADING, 1003.0, "Downloading the training image")
    move(store, job, JobPhase.TRAINING, 1004.0)
    move(store, job, JobPhase.UPLOADING, 1005.0)
    final = store.transition(
        job,
        status=JobStatus.COMPLETED,
        phase=JobPhase.COMPLETED,
        message="Training job completed",
        at=1006.0,
    )
    assert [(t.status, t.started, t.ended, t.message) for t in store.transitions(job)] == [
        ("Starting", 1000.0, 1002.0, "Preparing the instances for training"),
        ("Downloading", 1002.0, 1004.0, "Downloading the training image"),
        ("Training", 1004.0, 1005.0, "m"),
        ("Uploading", 1005.0, 1006.0, "m"),
        ("Completed", 1006.0, 1006.0, "Training job completed"),
    ]
    assert (final.started, final.ended, final.modified) == (1002.0, 1006.0, 1006.0)
    assert store.get(job) == final


def test_a_status_that_comes_again_is_a_new_element(store: Store, job: str) -> None:
    for at, secondary in enumerate([JobPhase.TRAINING, JobPhase.INTERRUPTED, JobPhase.STARTING, JobPhase.TRAINING]):
        move(store, job, secondary, 1001.0 + at)
    assert [t.status for t in store.transitions(job)] == [
        "Starting",
        "Training",
        "Interrupted",
        "Starting",
        "Training",
    ]


def test_the_end_of_a_failure_is_when_it_was_noticed(store: Store, job: str) -> None:
    store.transition(
        job,
        status=GOING,
        phase=JobPhase.UPLOADING,
        message="m",
        at=1005.0,
        ended=True,
        failure_reason="AlgorithmError: , exit code: 1",
    )
    final = store.transition(
        job,
        status=JobStatus.FAILED,
        phase=JobPhase.FAILED,
        message="Training job failed",
        at=1009.0,
    )
    assert (final.ended, final.modified, final.failure_reason) == (1005.0, 1009.0, "AlgorithmError: , exit code: 1")


@pytest.mark.parametrize("status", [s for s in JobStatus if s.terminal])
def test_a_finished_job_never_changes(store: Store, job: str, status: JobStatus) -> None:
    final = store.transition(job, status=status, phase=JobPhase(status.value), message="m", at=1001.0)
    with pytest.raises(JobFinishedError, match=f"because the training job is in status {status}"):
        move(store, job, JobPhase.TRAINING, 1002.0)
    assert store.get(job) == final
    assert len(store.transitions(job)) == 2


def test_a_recorded_stop_is_not_forgotten_by_a_phase_that_comes_late(store: Store, job: str) -> None:
    store.transition(
        job,
        status=JobStatus.STOPPING,
        phase=JobPhase.STOPPING,
        message="Stopping the training job",
        at=1001.0,
    )
    assert move(store, job, JobPhase.TRAINING, 1002.0).status is JobStatus.STOPPING


def test_an_unknown_job(store: Store) -> None:
    with pytest.raises(JobUnknownError) as caught:
        move(store, "nobody", JobPhase.TRAINING, 1.0)
    assert caught.value.sentence == "Requested resource not found."


@pytest.mark.slow(0.5)
@given(
    steps=st.lists(st.tuples(st.sampled_from(PHASES), st.floats(min_value=0, max_value=2e9)), min_size=1, max_size=12),
    created=st.floats(min_value=0, max_value=2e9),
)
def test_no_clock_makes_time_run_backwards(
    steps: list[tuple[JobPhase, float]], created: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    job = uuid4().hex
    with Store.open(str(tmp_path_factory.getbasetemp() / "shared-home")) as store:
        store.create(job, run_id="0" * 8, created=created, documents={}, supervisor_pid=1)
        for secondary, at in steps:
            move(store, job, secondary, at)
        elements = store.transitions(job)
        record = store.get(job)
    for element, following in pairwise(elements):
        assert element.ended == following.started >= element.started
        assert element.status != following.status
    assert elements[0].started == record.created
    assert elements[-1].ended is None
    assert elements[-1].started <= record.modified
    assert elements[-1].status == record.phase == steps[-1][0]


@pytest.mark.parametrize(("recorded", "modified"), [(1012.3456, 1012.346), (1009.0, 1010.0), (None, 1010.0)])
def test_a_job_may_be_changed_later_than_it_ended(
    store: Store, job: str, recorded: float | None, modified: float
) -> None:
    ended = store.transition(
        job, status=JobStatus.COMPLETED, phase=JobPhase.COMPLETED, message="m", at=1010.0, modified=recorded
    )
    assert (ended.ended, ended.modified) == (1010.0, modified)
    assert store.transitions(job)[-1].started == 1010.0

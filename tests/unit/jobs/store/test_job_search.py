"""The jobs that ListTrainingJobs asks for."""

import pytest

from smlocal.jobs.store.job_search import JobSearch
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED, FAILED, Ending, JobStatus

JOBS: tuple[tuple[str, float, Ending | None, float], ...] = (
    ("train-b", 10.0, COMPLETED, 50.0),
    ("train-a", 20.0, FAILED, 30.0),
    ("other", 20.0, None, 0.0),
    ("Train-c", 40.0, COMPLETED, 45.0),
)


@pytest.fixture(autouse=True)
def jobs(store: Store) -> None:
    for name, created, end, at in JOBS:
        store.create(name, run_id="0", created=created, documents={}, supervisor_pid=1).release()
        if end is not None:
            store.transition(name, status=end.status, phase=end.phase, message=end.message, at=at)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("search", "found"),
    [
        (JobSearch(), ["train-b", "train-a", "other", "Train-c"]),
        (JobSearch(descending=True), ["Train-c", "other", "train-a", "train-b"]),
        (JobSearch(sort_by="name"), ["Train-c", "other", "train-a", "train-b"]),
        (JobSearch(sort_by="status"), ["train-b", "Train-c", "train-a", "other"]),
        (JobSearch(sort_by="status", descending=True), ["other", "train-a", "Train-c", "train-b"]),
        (JobSearch(created_after=10.0, created_before=40.0), ["train-a", "other"]),
        (JobSearch(modified_after=30.0, modified_before=50.0), ["Train-c"]),
        (JobSearch(name_contains="rain-"), ["train-b", "train-a", "Train-c"]),
        (JobSearch(name_contains="%"), []),
        (JobSearch(status=JobStatus.COMPLETED), ["train-b", "Train-c"]),
        (JobSearch(status=JobStatus.IN_PROGRESS, name_contains="train"), []),
    ],
)
@pytest.mark.parametrize("most", [1, 2, 100])
def test_all_pages_together(store: Store, search: JobSearch, found: list[str], most: int) -> None:
    names: list[str] = []
    after = None
    while True:
        page = store.find_page(search, most=most, after=after)
        assert len(page.jobs) <= most
        names += [job.name for job in page.jobs]
        after = page.next
        if after is None:
            break
    assert names == found


def test_a_new_job_moves_none_to_another_page(store: Store) -> None:
    page = store.find_page(JobSearch(descending=True), most=2)
    store.create("newest", run_id="0", created=100.0, documents={}, supervisor_pid=1).release()
    rest = store.find_page(JobSearch(descending=True), most=2, after=page.next)
    assert [job.name for job in (*page.jobs, *rest.jobs)] == ["Train-c", "other", "train-a", "train-b"]
    assert rest.next is None

"""Data that another process is downloading, and a request that comes meanwhile."""

from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.data.channels.cache.folder import Cache
from smlocal.data.channels.cache.get_tree import tree_name
from smlocal.jobs.control.requests import StopRequests
from smlocal.jobs.decide.events import StagingStoppedError
from smlocal.jobs.host.delivery import Delivery
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.view import Reporter
from smlocal.terms.listing import Listing

IN_S3 = Listing(
    root="",
    bucket_uri="s3://bucket/",
    prefix="train/",
    key_base="train/",
    paths=["a.csv"],
    total_bytes=1,
    whole_tree=False,
    sizes=[1],
    etags=['"0"'],
)


class Waits(Reporter):
    """Has the job stopped as soon as it waits, by a thread of its process."""

    def __init__(self, requests: StopRequests) -> None:
        self.requests = requests

    def warning(self, text: str) -> None:
        assert "waiting for another job" in text
        self.requests.stop()


def test_a_stop_ends_the_waiting_for_the_download_of_another_job(
    tmp_path: Path, plan: Callable[..., JobPlan], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    made = plan(listings={"train": IN_S3}, job_directory=str(tmp_path / "jobs" / "job-1"))
    (tree,) = made.hosts[0].inputs.trees
    cache = Cache(home=str(tmp_path))
    cache.prepare()
    with StopRequests() as requests:
        delivery = Delivery(
            plan=made,
            home=str(tmp_path),
            reporter=Waits(requests),
            on_failure=lambda _, __: None,
            check=requests.check_interruptible,
        )
        name = tree_name(delivery.store().endpoint_url, tree.listing)
        with (
            cache.alone(name, lambda: pytest.fail("somebody has it")),
            pytest.raises(StagingStoppedError),
            requests.interruptible(),
        ):
            delivery.download(tree)

"""Which jobs a command can interrupt: the platform says it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smlocal.errors import JobNotInterruptibleError
from smlocal.jobs.control.requests import ask_to_interrupt
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import JobPhase


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "home")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("platform", "remedy"), [("sagemaker", "EnableManagedSpotTraining: true"), ("ai_platform", "Maintenance")]
)
def test_a_job_without_spot_instances_is_not_interrupted(store: Store, platform: str, remedy: str) -> None:
    documents: dict[str, Any] = {REQUEST: {"EnableManagedSpotTraining": False}}
    store.create("one", run_id="1", created=1.0, documents=documents, supervisor_pid=None, platform=platform).release()
    with pytest.raises(JobNotInterruptibleError) as caught:
        ask_to_interrupt(store, "one")
    assert remedy in caught.value.remedy[0]


def test_a_job_on_spot_instances_is_interrupted_while_it_trains(store: Store) -> None:
    documents: dict[str, Any] = {REQUEST: {"EnableManagedSpotTraining": True}}
    store.create("one", run_id="1", created=1.0, documents=documents, supervisor_pid=None).release()
    with pytest.raises(JobNotInterruptibleError, match="is not training now: it is Starting"):
        ask_to_interrupt(store, "one")
    store.transition("one", status=store.get("one").status, phase=JobPhase.TRAINING, message="m", at=2.0)
    assert ask_to_interrupt(store, "one") is False  # nobody supervises it
    assert [event.kind for event in store.events("one")] == ["interrupt"]

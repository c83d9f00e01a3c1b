"""Warm pools in a home: who gets which, whatever dies in between, and when a folder is deleted."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.resources import WARM_POOL, change_period, clear_ended, join, keep, state_of
from smlocal.terms.statuses import COMPLETED

LIKE = '{"InstanceType":"ml.m5.large"}'


@pytest.fixture
def begin(store: Store) -> Callable[[str], None]:
    """Records a running job, whose run is called as it is."""

    def make(name: str) -> None:
        store.create(name, run_id=f"run-{name}", created=1000.0, documents={}, supervisor_pid=42)

    return make


@pytest.fixture
def joined(store: Store, begin: Callable[[str], None]) -> Callable[..., str | None]:
    def make(name: str, like: str = LIKE, seconds: int = 600) -> str | None:
        begin(name)
        return join(store, name, f"run-{name}", like=like, seconds=seconds)

    return make


def end(store: Store, name: str, *, kept: bool = True, ago: float = 0) -> None:
    if kept:
        keep(store, name)
    then = time.time() - ago
    store.transition(
        name, status=COMPLETED.status, phase=COMPLETED.phase, message=COMPLETED.message, at=then, modified=then
    )


def status(store: Store, name: str) -> str:
    state = state_of(store.get(name), store.document(name, WARM_POOL))
    assert state is not None
    return state.status


def folders(home: Path) -> dict[str, list[str]]:
    return {each.name: sorted(os.listdir(each)) for each in sorted((home / "warm-pools").iterdir())}


def leave(home: Path, name: str, file: str) -> None:
    (home / "warm-pools" / f"{name}.run-{name}" / file).touch()


def test_the_folder_goes_to_the_next_job_that_is_like_it(store: Store, home: Path, joined: Any) -> None:
    assert joined("a") is None
    leave(home, "a", "left")
    assert status(store, "a") == "InUse"
    assert joined("b") is None  # the pool is in use
    end(store, "a")
    assert status(store, "a") == "Available"
    assert joined("c", like="{}") is None
    assert joined("d") == "a"
    assert folders(home) == {"b.run-b": [], "c.run-c": [], "d.run-d": ["left"]}
    assert (status(store, "a"), status(store, "d")) == ("Reused", "InUse")
    assert store.document("d", WARM_POOL)["Since"] == store.document("a", WARM_POOL)["Since"]
    assert joined("e") is None


def test_of_several_the_one_that_ended_last_is_taken(store: Store, joined: Any) -> None:
    for name in ("a", "b", "c"):
        joined(name)
    for ago, name in ((30, "c"), (20, "a"), (10, "b")):  # the clock may be set back between two of them
        end(store, name, ago=ago)
    assert joined("d") == "b"


def test_two_jobs_at_once_do_not_get_the_same(home: Path, joined: Any, begin: Any, store: Store) -> None:
    joined("a")
    end(store, "a")
    for number in range(8):
        begin(f"b{number}")

    def take(number: int) -> str | None:
        with Store.open(str(home)) as own:
            return join(own, f"b{number}", f"run-b{number}", like=LIKE, seconds=60)

    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(take, range(8)))
    assert [each for each in taken if each is not None] == ["a"]
    assert len(folders(home)) == 8


@pytest.mark.parametrize("dies_in", ["put_document", "rename"])
def test_what_a_killed_supervisor_had_begun_is_finished(
    store: Store, home: Path, joined: Any, begin: Any, monkeypatch: pytest.MonkeyPatch, dies_in: str
) -> None:
    joined("a")
    leave(home, "a", "left")
    end(store, "a")
    begin("b")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store if dies_in == "put_document" else os, dies_in, die)
        with pytest.raises(KeyboardInterrupt):
            join(store, "b", "run-b", like=LIKE, seconds=60)
    assert status(store, "a") == "Reused"
    clear_ended(store)
    assert folders(home) == {"a.run-a": ["left"]}  # it is for a job that has not ended
    join(store, "b", "run-b", like=LIKE, seconds=60)
    assert folders(home) == {"b.run-b": ["left"]}


def test_a_folder_is_deleted_once_its_pool_has_ended(store: Store, home: Path, joined: Any) -> None:
    for name, seconds in (("kept", 600), ("over", 0), ("broken", 600), ("running", 600)):
        joined(name, like=name, seconds=seconds)
        leave(home, name, "left")
    for name in ("kept", "over", "broken"):
        end(store, name, kept=name != "broken")
    (home / "warm-pools" / "gone.run-gone" / "deep").mkdir(parents=True)
    (home / "warm-pools" / "kept.run-before").mkdir()  # of a job that had the name
    Store.open(str(home)).close()
    assert folders(home) == {"kept.run-kept": ["left"], "running.run-running": ["left"]}
    assert (status(store, "over"), status(store, "broken")) == ("Terminated", "Terminated")
    store.remove("kept")
    assert list(folders(home)) == ["running.run-running"]


def test_the_time_of_an_available_pool_can_be_changed_and_only_of_that(store: Store, home: Path, joined: Any) -> None:
    joined("a")
    assert not change_period(store, store.get("a"), 60)  # it is in use
    end(store, "a")
    ended = store.get("a")
    assert change_period(store, ended, 1200)
    assert (status(store, "a"), store.document("a", WARM_POOL)["Seconds"]) == ("Available", 1200)
    assert change_period(store, ended, 0)
    assert (status(store, "a"), folders(home)) == ("Terminated", {})
    assert not change_period(store, ended, 1200)
    store.create("without", run_id="x", created=1000.0, documents={}, supervisor_pid=42)
    end(store, "without")
    assert not change_period(store, store.get("without"), 60)


def test_a_job_that_never_had_its_machines_has_no_pool_to_keep(store: Store, home: Path, begin: Any) -> None:
    begin("a")
    end(store, "a")
    assert store.document("a", WARM_POOL) is None
    clear_ended(store)
    assert not (home / "warm-pools").exists()

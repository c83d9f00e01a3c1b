import os
import re
import sqlite3
from pathlib import Path

import pytest

from smlocal.errors import HomeUnusableError, JobNotFinishedError, JobUnknownError, NameInUseError
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import supervised
from smlocal.jobs.store.records import LeftOnEngine
from smlocal.terms.statuses import JobPhase, JobStatus


def create(store: Store, name: str, created: float = 1000.0) -> None:
    store.create(name, run_id="0123abcd", created=created, documents={"Request": {"name": name}}, supervisor_pid=1)


def finish(store: Store, name: str) -> None:
    store.transition(
        name,
        status=JobStatus.COMPLETED,
        phase=JobPhase.COMPLETED,
        message="Training job completed",
        at=2000.0,
    )


def test_a_name_is_used_once(store: Store, job: str) -> None:
    with pytest.raises(NameInUseError) as caught:
        create(store, job)
    assert "--name" in " ".join(caught.value.remedy)
    assert "--replace" in " ".join(caught.value.remedy)
    assert store.get(job).supervisor_pid == 42
    assert store.document(job, "Request") is None


def test_a_folder_that_somebody_deleted_is_made_again_for_the_next_supervisor(
    store: Store, home: Path, job: str
) -> None:
    folder = home / "jobs" / job
    folder.rmdir()
    lease = store.take_over(job, 7)
    assert lease is not None
    assert store.get(job).supervisor_pid == 7
    assert folder.stat().st_mode & 0o777 == 0o700
    assert supervised(str(folder))
    lease.release()
    finish(store, job)
    folder.rmdir()
    assert store.take_over(job, 7) is None
    with pytest.raises(JobUnknownError):
        store.take_over("nobody", 7)
    assert list(folder.parent.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="nothing says what processes have open")
def test_a_supervisor_whose_folder_was_deleted_stays_the_only_one(store: Store, home: Path, job: str) -> None:
    lease = store.take_over(job, os.getpid())
    assert lease is not None
    (home / "jobs" / job).rmdir()
    assert store.take_over(job, 7) is None
    assert not (home / "jobs" / job).exists()
    lease.release()
    following = store.take_over(job, 7)
    assert following is not None
    following.release()


def test_documents_come_back_as_they_were(store: Store, job: str) -> None:
    document = {"z": 1, "a": ["ü", "\udcff", None, 1.5], "m": {"b": True, "a": False}}
    store.put_document(job, "Plan", {"old": 1})
    store.put_document(job, "Plan", document)
    assert store.document(job, "Plan") == document
    assert list(store.document(job, "Plan")) == ["z", "a", "m"]
    assert store.document(job, "Other") is None
    with pytest.raises(JobUnknownError):
        store.put_document("nobody", "Plan", {})
    with pytest.raises(JobUnknownError):
        store.document("nobody", "Plan")


def test_a_finished_job_is_replaced_in_one_step(store: Store, home: Path, job: str) -> None:
    with pytest.raises(JobNotFinishedError):
        store.create(job, run_id="1", created=1.0, documents={}, supervisor_pid=1, replace=True)
    assert store.get(job).supervisor_pid == 42
    store.put_document(job, "Old", {})
    (home / "jobs" / job / "old").write_text("")
    finish(store, job)
    store.create(job, run_id="1", created=1.0, documents={"New": {}}, supervisor_pid=7, replace=True).release()
    assert (store.get(job).status, store.get(job).supervisor_pid) == (JobStatus.IN_PROGRESS, 7)
    assert (store.document(job, "Old"), store.document(job, "New")) == (None, {})
    assert list((home / "jobs" / job).iterdir()) == []
    assert not (home / "removed").exists()
    store.create("new", run_id="1", created=1.0, documents={}, supervisor_pid=7, replace=True).release()
    assert store.count() == 2


def test_events_keep_their_order(store: Store, job: str) -> None:
    store.add_event(job, 5.0, "stop", {"Cause": "request"})
    store.add_event(job, 4.0, "signal", None)
    assert [(e.at, e.kind, e.data) for e in store.events(job)] == [
        (5.0, "stop", {"Cause": "request"}),
        (4.0, "signal", None),
    ]


def test_newest_first_a_page_at_a_time(store: Store) -> None:
    for number in (3, 1, 2):
        create(store, f"job-{number}", created=1000.0 + number)
    create(store, "job-same-second", created=1003.0)
    assert [job.name for job in store.list()] == ["job-same-second", "job-3", "job-2", "job-1"]
    assert [job.name for job in store.list(limit=2, offset=1)] == ["job-3", "job-2"]
    assert store.count() == 4


def test_lists_and_lookups_go_by_an_index(store: Store, home: Path, job: str) -> None:
    assert store.get(job).name == job
    with sqlite3.connect(home / "smlocal.db") as connection:
        for query in (
            "SELECT name FROM jobs ORDER BY created DESC, id DESC LIMIT 10",
            "SELECT id FROM jobs WHERE name = 'x'",
            "SELECT data FROM events WHERE job = 1 ORDER BY id",
            "SELECT body FROM documents WHERE job = 1 AND kind = 'x'",
        ):
            steps = " ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}"))
            assert "USING" in steps, (query, steps)
            assert "TEMP B-TREE" not in steps, (query, steps)
    connection.close()


def test_another_connection_sees_what_was_committed(store: Store, home: Path, job: str) -> None:
    with Store.open(str(home)) as other:
        store.put_document(job, "Plan", {"a": 1})
        assert other.document(job, "Plan") == {"a": 1}
        finish(other, job)
    assert store.get(job).status is JobStatus.COMPLETED


def test_a_finished_job_can_be_removed_with_everything(store: Store, home: Path, job: str) -> None:
    with pytest.raises(JobNotFinishedError):
        store.remove(job)
    folder = Path(store.directory(job))
    (folder / "logs").mkdir()
    (folder / "logs" / "algo-1.log").write_text("hello")
    store.put_document(job, "Plan", {})
    store.add_event(job, 1.0, "stop", {})
    finish(store, job)
    store.remove(job)
    with pytest.raises(JobUnknownError):
        store.get(job)
    assert list((home / "jobs").iterdir()) == []
    create(store, job)
    assert store.document(job, "Plan") is None
    assert store.events(job) == []
    assert len(store.transitions(job)) == 1
    with pytest.raises(JobUnknownError):
        store.remove("nobody")


@pytest.mark.parametrize("where", ["the folder itself", "a folder in it"])
def test_removal_never_follows_a_link(store: Store, tmp_path: Path, job: str, where: str) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("keep me")
    folder = Path(store.directory(job))
    if where == "the folder itself":
        folder.rmdir()
        folder.symlink_to(precious)
    else:
        (folder / "link").symlink_to(precious)
    finish(store, job)
    store.remove(job)
    assert (precious / "file").read_text() == "keep me"
    assert not os.path.lexists(folder)


def test_a_folder_left_by_a_dead_creator_is_no_obstacle(store: Store, home: Path) -> None:
    (home / "jobs" / "job-2").mkdir()
    (home / "jobs" / "job-2" / "stale").write_text("x")
    create(store, "job-2")
    assert list(Path(store.directory("job-2")).iterdir()) == []
    assert [path.name for path in (home / "jobs").iterdir()] == ["job-2"]


def test_a_signal_when_a_transaction_has_just_begun_ends_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        """A connection during whose first statement a signal comes."""

        def __init__(self, connection: sqlite3.Connection) -> None:
            self.connection = connection

        @property
        def in_transaction(self) -> bool:
            return self.connection.in_transaction

        def execute(self, statement: str) -> None:
            self.connection.execute(statement)
            if statement.startswith("BEGIN"):
                raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store, "_connection", Interrupted(store._connection))
        with pytest.raises(KeyboardInterrupt):
            create(store, "job-2")
    create(store, "job-2")


def test_what_a_dead_remover_left_is_swept(home: Path) -> None:
    dead = "4194999"  # above the largest process id
    with Store.open(str(home)) as store:
        store.create("kept", run_id="0", created=1.0, documents={}, supervisor_pid=None).release()
        (Path(store.directory("kept")) / "log").write_text("here")
        aside = home / "removed"
        aside.mkdir()
        # Killed before its removal was committed: the job is still there, and so must be its folder.
        Path(store.directory("kept")).rename(aside / f"{dead}-0-kept")
        # The same, and the folder of the job that was to replace it had been made.
        store.create("replaced", run_id="1", created=1.0, documents={}, supervisor_pid=None).release()
        (Path(store.directory("replaced")) / "log").write_text("old")
        Path(store.directory("replaced")).rename(aside / f"{dead}-1-replaced")
        Path(store.directory("replaced")).mkdir()
        (Path(store.directory("replaced")) / "wakeup").touch()
        # Killed after a job of its name was committed.
        store.create("new", run_id="3", created=1.0, documents={}, supervisor_pid=None).release()
        (Path(store.directory("new")) / "log").write_text("new")
        (aside / f"{dead}-2-new").mkdir()
        (aside / f"{dead}-00000000-gone").mkdir()
        mine = aside / f"{os.getpid()}-00000000-busy"
        mine.mkdir()
    with Store.open(str(home)) as store:
        logs = {name: (Path(store.directory(name)) / "log").read_text() for name in ("kept", "replaced", "new")}
        assert logs == {"kept": "here", "replaced": "old", "new": "new"}
        assert not (Path(store.directory("replaced")) / "wakeup").exists()
        assert [path.name for path in aside.iterdir()] == [mine.name]
        mine.rmdir()
    with Store.open(str(home)):
        assert not aside.exists()


def test_no_folder_no_job(store: Store, home: Path) -> None:
    (home / "jobs").rmdir()
    (home / "jobs").write_text("not a folder")
    with pytest.raises(HomeUnusableError):
        create(store, "job-2")
    with pytest.raises(JobUnknownError):
        store.get("job-2")


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", ".hidden"])
def test_a_name_that_is_no_folder_name_is_a_mistake_of_ours(store: Store, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(name)}$"):
        create(store, name)


def test_what_is_left_on_an_engine_outlives_the_job(store: Store, job: str) -> None:
    left = LeftOnEngine(run_id="0123abcd", name=job, engine="tcp://far:2375")
    other = LeftOnEngine(run_id="4567abcd", name="other", engine="tcp://far:2375")
    for each in (left, other, left):
        store.record_leftovers(each)
    assert store.left_on_engines() == [left, other]
    finish(store, job)
    store.remove(job)
    assert store.left_on_engines(job) == [left]
    store.delete_leftovers(left)
    store.delete_leftovers(left)
    assert store.left_on_engines() == [other]

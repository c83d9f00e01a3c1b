"""Several processes on one home, and processes that die in the middle of it."""

import errno
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from smlocal.errors import HomeUnusableError
from smlocal.jobs.store.home import mark_begun, move_aside, prepare_home
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import JobPhase, JobStatus

CREATE = """
import os, sys
from smlocal.errors import NameInUseError
from smlocal.jobs.store.jobs import Store
sys.stdin.read()
try:
    with Store.open(sys.argv[1]) as store:
        store.create("wanted", run_id=str(os.getpid()), created=1.0, documents={"D": os.getpid()},
                     supervisor_pid=os.getpid())
except NameInUseError:
    print("lost")
else:
    print("won", os.getpid())
"""

WRITE_FOR_EVER = """
import os, sys
from smlocal.terms.statuses import JobPhase as S, JobStatus as T
from smlocal.jobs.store.jobs import Store
print("ready", flush=True)
number = 0
while True:
    with Store.open(sys.argv[1]) as store:
        name = f"job-{os.getpid()}-{number}"
        store.create(name, run_id="0", created=1.0, documents={"D": "x" * 5000}, supervisor_pid=os.getpid())
        store.transition(name, status=T.IN_PROGRESS, phase=S.TRAINING, message="m", at=2.0)
        store.transition(name, status=T.COMPLETED, phase=S.COMPLETED, message="m", at=3.0)
        if number % 3 == 0:
            store.remove(name)
    number += 1
"""


@pytest.mark.slow(0.5)
def test_of_twenty_creators_on_a_new_home_exactly_one_wins(home: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CREATE, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(20)
    ]
    for process in processes:  # all stand ready; let them go together
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    said = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * 20
    winners = [words for words in said if words[0] == "won"]
    assert len(winners) == 1
    assert said.count(["lost"]) == 19
    with Store.open(str(home)) as store:
        assert store.get("wanted").run_id == winners[0][1]
        assert store.document("wanted", "D") == int(winners[0][1])
    assert sorted(path.name for path in home.iterdir()) == ["jobs", "smlocal.db"]


@pytest.mark.slow(0.5)
def test_a_process_killed_at_any_moment_leaves_whole_jobs(home: Path) -> None:
    moments = random.Random(7)
    for _ in range(12):
        process = subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, str(home)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(moments.uniform(0.0, 0.05))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with Store.open(str(home)) as store:
            for job in store.list():
                elements = [t.status for t in store.transitions(job.name)]
                assert elements[-1] == job.phase
                assert elements == ["Starting", "Training", "Completed"][: len(elements)]
                assert all(t.ended is not None for t in store.transitions(job.name)[:-1])
                assert len(store.document(job.name, "D")) == 5000
                assert Path(store.directory(job.name)).is_dir()
    with sqlite3.connect(home / "smlocal.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_process_that_is_killed_while_it_records_a_job_leaves_no_folder(home: Path) -> None:
    program = """
import os, sys
from smlocal.jobs.store.jobs import Store
with Store.open(sys.argv[1]) as store:
    store.create("first", run_id="0", created=1.0, documents={}, supervisor_pid=1).release()
    kill = lambda _: os.kill(os.getpid(), 9)
    store.create("killed", run_id="0", created=1.0, documents={}, supervisor_pid=1, begin=kill)
"""
    done = subprocess.run([sys.executable, "-c", program, str(home)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert sorted(path.name for path in (home / "jobs").iterdir()) == ["first", "killed"]
    with Store.open(str(home)) as store:
        assert store.names() == ["first"]
    assert [path.name for path in (home / "jobs").iterdir()] == ["first"]
    assert not (home / "begun").exists()


def test_a_folder_that_another_process_removes_is_made_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`begun` and `removed` go when they are empty: here just before, and just after, they are found to be there."""
    prepare_home(str(home))
    isdir, makedirs = os.path.isdir, os.makedirs
    removals: list[str] = []

    def removed_before(path: str) -> bool:
        if path.endswith(("begun", "removed")) and len(removals) % 2 == 0:
            removals.append(path)
            os.rmdir(path)
        return isdir(path)

    def removed_after(path: str, mode: int = 0o777, *, exist_ok: bool = False) -> None:
        makedirs(path, mode, exist_ok)
        if path.endswith(("begun", "removed")) and len(removals) % 2 == 1:
            removals.append(path)
            os.rmdir(path)

    monkeypatch.setattr(os.path, "isdir", removed_before)  # os.makedirs asks it about a folder that is there already
    monkeypatch.setattr(os, "makedirs", removed_after)
    (home / "begun").mkdir()
    mark_begun(str(home), "mine")
    assert [path.name for path in (home / "begun").iterdir()] == [f"{os.getpid()}-mine"]
    (home / "removed").mkdir()
    (home / "jobs" / "mine").mkdir()
    aside = move_aside(str(home), str(home / "jobs" / "mine"), run_id="0")
    assert not (home / "jobs" / "mine").exists()
    assert isdir(aside)
    assert removals == [str(home / "begun")] * 2 + [str(home / "removed")] * 2


def test_a_job_that_cannot_be_recorded_leaves_no_folder(home: Path, store: Store) -> None:
    """As on a full disk."""

    def fail(_: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises((OSError, HomeUnusableError)):
        store.create("full", run_id="0", created=1.0, documents={}, supervisor_pid=1, begin=fail)
    assert list((home / "jobs").iterdir()) == []
    assert sorted(path.name for path in home.iterdir() if path.is_dir()) == ["jobs"]


def test_threads_share_a_store(store: Store, job: str) -> None:
    def tell(number: int) -> None:
        for turn in range(20):
            store.add_event(job, 1.0, "told", [number, turn])

    threads = [threading.Thread(target=tell, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [event.data for event in store.events(job)]
    assert sorted(map(str, told)) == sorted(str([n, t]) for n in range(4) for t in range(20))


def test_a_reader_is_not_held_up_by_a_writer(store: Store, home: Path, job: str) -> None:
    with store._write(), Store.open(str(home)) as reader:
        assert [record.name for record in reader.list()] == [job]


def test_a_stop_from_another_process_and_a_phase_meet_in_one_order(store: Store, home: Path, job: str) -> None:
    with Store.open(str(home)) as other:
        other.transition(
            job,
            status=JobStatus.STOPPING,
            phase=JobPhase.STOPPING,
            message="m",
            at=1001.0,
        )
    record = store.transition(
        job,
        status=JobStatus.IN_PROGRESS,
        phase=JobPhase.UPLOADING,
        message="m",
        at=1002.0,
    )
    assert record.status is JobStatus.STOPPING

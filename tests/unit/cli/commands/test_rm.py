import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import Run

from smlocal.jobs.store.jobs import Store

Remember = Callable[..., None]


def names(home: Path) -> list[str]:
    with Store.open(str(home)) as store:
        return sorted(record.name for record in store.list())


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("words", "left"),
    [
        (("a-1",), ["a-2", "b-1"]),
        (("a-*",), ["b-1"]),
        (("a-[2-9]", "*-1"), []),
        (("?-1", "a-1"), ["a-2"]),
        (("A-*",), ["a-1", "a-2", "b-1"]),
    ],
)
def test_names_and_patterns(
    words: tuple[str, ...], left: list[str], remember: Remember, smlocal: Run, tmp_path: Path
) -> None:
    for name in ("a-1", "a-2", "b-1"):
        remember(name)
    done = smlocal("rm", *words)
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == left
    said = {f"removed {name}" for name in {"a-1", "a-2", "b-1"} - set(left)} or {"no job matches A-*"}
    assert set(done.stderr.splitlines()) == said


def test_a_job_that_is_not_there_is_an_error_and_a_pattern_is_not(
    remember: Remember, smlocal: Run, tmp_path: Path
) -> None:
    remember("a")
    done = smlocal("rm", "nobody", "x*", "a")
    assert done.returncode == 2
    assert "no job matches x*" in done.stderr
    assert "job-unknown" in done.stderr
    assert names(tmp_path) == []


def test_what_has_not_ended_stays(remember: Remember, smlocal: Run, tmp_path: Path) -> None:
    from smlocal.jobs.store.lease import Lease

    remember("runs", ended=False)
    lease = Lease.take(str(tmp_path / "jobs" / "runs"))
    assert lease is not None
    with lease:
        done = smlocal("rm", "run*")
    assert done.returncode == 2
    assert "job-not-finished" in done.stderr
    assert names(tmp_path) == ["runs"]


def test_from_python(remember: Remember, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import smlocal
    from smlocal.errors import JobUnknownError

    monkeypatch.setenv("SMLOCAL_HOME", os.fspath(tmp_path))
    remember("a")
    job = smlocal.TrainingJob("a")
    job.remove()
    with pytest.raises(JobUnknownError):
        job.remove(stop=True)


def aged(home: Path, name: str, seconds: float) -> None:
    with sqlite3.connect(home / "smlocal.db") as database:
        database.execute("UPDATE jobs SET ended = ? WHERE name = ?", (time.time() - seconds, name))
    database.close()


@pytest.fixture
def several(remember: Remember, tmp_path: Path) -> None:
    """Jobs that ended in different ways, each before a different time."""
    for name, reason, age in (("good-old", None, 8), ("bad-old", "why", 8), ("bad-new", "why", 6)):
        remember(name, reason=reason)
        aged(tmp_path, name, age * 86400)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("words", "removed"),
    [
        (("--status", "Failed"), ["bad-new", "bad-old"]),
        (("--older-than", "7d"), ["bad-old", "good-old"]),
        (("--status", "failed", "--older-than", "1w"), ["bad-old"]),
        (("--status", "Failed", "--status", "Completed", "--older-than", "145h"), ["bad-old", "good-old"]),
        (("good-*", "--older-than", "30m"), ["good-old"]),
        (("bad-n", "--older-than", "7d"), []),
        (("--status", "Stopped"), []),
    ],
)
@pytest.mark.usefixtures("several")
def test_by_status_and_age(words: tuple[str, ...], removed: list[str], smlocal: Run, tmp_path: Path) -> None:
    listed = [] if "*" in words[0] or words[0] == "bad-n" else smlocal("jobs", *words).stdout.splitlines()[1:]
    if listed:
        assert sorted(line.split()[0] for line in listed) == removed
    done = smlocal("rm", *words)
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == sorted({"good-old", "bad-old", "bad-new"} - set(removed))
    *lines, last = done.stderr.splitlines()
    assert sorted(lines) == [f"removed {name}" for name in removed]
    named = f"{words[0]} and the" if words[0] == "bad-n" else "the"
    assert last == {0: f"no job matches {named} options", 1: "1 job removed", 2: "2 jobs removed"}[len(removed)]


@pytest.mark.usefixtures("several")
def test_all_that_have_ended(remember: Remember, smlocal: Run, tmp_path: Path) -> None:
    remember("runs", ended=False)
    done = smlocal("rm", "--all", "--older-than", "7d")
    assert (done.returncode, names(tmp_path)) == (0, ["bad-new", "runs"]), done.stderr
    done = smlocal("rm", "--all")
    assert (done.returncode, names(tmp_path)) == (0, ["runs"]), done.stderr
    done = smlocal("rm", "--all", "--stop")
    assert (done.returncode, "--stop cannot be combined with" in done.stderr) == (2, True), done.stderr


def test_only_what_has_ended_and_has_its_artifacts_elsewhere_is_chosen(
    remember: Remember, smlocal: Run, tmp_path: Path
) -> None:
    remember("runs", ended=False)
    remember("full", reason="why", local={"Artifacts": {"Kept": "/here"}})
    done = smlocal("rm", "--older-than", "0s", "runs", "full")
    assert done.returncode == 0, done.stderr
    assert "kept full: its artifacts are not packed" in done.stderr
    assert names(tmp_path) == ["full", "runs"]


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "missing argument 'NAME...', or --all, --status or --older-than"),
        (("--stop", "--status", "Failed"), "--stop cannot be combined with"),
        (("--older-than", "7"), "write a number and s, m, h, d or w"),
        (("--older-than", "-1d"), "write a number and s, m, h, d or w"),
        (("--older-than", "\u0667d"), "write a number and s, m, h, d or w"),
        (("--status", "InProgress"), "'Completed', 'Failed', 'Stopped'"),
    ],
)
def test_wrong_choices(words: tuple[str, ...], said: str, remember: Remember, smlocal: Run, tmp_path: Path) -> None:
    remember("a")
    done = smlocal("rm", *words)
    assert done.returncode == 2
    assert said.lower() in done.stderr.lower()
    assert names(tmp_path) == ["a"]

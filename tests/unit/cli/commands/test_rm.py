import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smlocal.store.jobs import Store

Remember = Callable[..., None]
Smlocal = Callable[..., Any]


def names(home: Path) -> list[str]:
    with Store.open(str(home)) as store:
        return sorted(record.name for record in store.list())


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
    words: tuple[str, ...], left: list[str], remember: Remember, smlocal: Smlocal, tmp_path: Path
) -> None:
    for name in ("a-1", "a-2", "b-1"):
        remember(name)
    done = smlocal("rm", *words)
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == left
    said = {f"removed {name}" for name in {"a-1", "a-2", "b-1"} - set(left)} or {"no job matches A-*"}
    assert set(done.stderr.splitlines()) == said


def test_a_job_that_is_not_there_is_an_error_and_a_pattern_is_not(
    remember: Remember, smlocal: Smlocal, tmp_path: Path
) -> None:
    remember("a")
    done = smlocal("rm", "nobody", "x*", "a")
    assert done.returncode == 2
    assert "no job matches x*" in done.stderr
    assert "job-unknown" in done.stderr
    assert names(tmp_path) == []


def test_what_has_not_ended_stays(remember: Remember, smlocal: Smlocal, tmp_path: Path) -> None:
    from smlocal.store.lease import Lease

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

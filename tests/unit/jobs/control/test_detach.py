"""A process that goes on by itself, begun by one that has threads: it is spawned, never forked."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kit import until

from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.jobs.control import detach


@pytest.fixture(autouse=True)
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A module that the other process can import, too."""
    (tmp_path / "spawned_work.py").write_text(
        "import os, time\n"
        "from smlocal.errors import JobUnknownError\n"
        "def note(begun, *, path):\n"
        "    begun()\n"
        "    with open(path + '.partial', 'w') as file: file.write(f'{os.getpid()} {os.getsid(0)}')\n"
        "    os.rename(path + '.partial', path)\n"
        "def refuse(begun, *, path): raise JobUnknownError('not here', details=[path])\n"
        "def die(begun, *, path): os._exit(7)\n"
        "def nothing(begun, *, path): pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)

    def refuse_to_fork() -> int:
        raise AssertionError("forked")

    monkeypatch.setattr(os, "fork", refuse_to_fork)
    import spawned_work  # type: ignore[import-not-found]  # written a moment ago

    def begin(name: str, **given: str) -> None:
        detach.start_in_background(getattr(spawned_work, name), **given)

    yield begin
    del sys.modules["spawned_work"]  # the next test writes another


def test_it_goes_on_in_a_session_of_its_own(worker: Callable[..., None], tmp_path: Path) -> None:
    worker("note", path=str(tmp_path / "noted"))
    until((tmp_path / "noted").exists)
    pid, session = map(int, (tmp_path / "noted").read_text().split())
    assert pid != os.getpid()
    assert session != os.getsid(0)


def test_it_goes_on_if_the_process_that_began_it_is_gone(tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "from smlocal.jobs.control import detach\n"
        "def work(begun, *, path):\n"
        "    begun()\n"
        "    open(path, 'w').close()\n"
        "reading, writing = os.pipe()\n"
        "os.close(reading)\n"
        "detach._work(work, {'path': sys.argv[1]}, writing)\n"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "done"], check=True, timeout=60)
    assert (tmp_path / "done").exists()


def test_what_went_wrong_before_it_began_is_raised_here(worker: Callable[..., None]) -> None:
    with pytest.raises(JobUnknownError, match="not here") as error:
        worker("refuse", path="x")
    assert error.value.details == ("x",)
    with pytest.raises(SmlocalError, match="before it began"):
        worker("die", path="x")
    worker("nothing", path="x")


def test_a_python_that_cannot_start(worker: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SmlocalError, match="could not be started"):
        worker("nothing", path="x")


def test_only_the_command_may_fork() -> None:
    code = "import smlocal.jobs.control.detach as d; print(d.process_may_fork)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

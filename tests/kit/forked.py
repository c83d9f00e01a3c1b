"""Processes that begin where another one has come to, which has imported what all of them need.

Most of the processor time that a command takes goes into its imports, and the tests run two thousand. That a Python
can start `smlocal`, and what it imports then, is seen where tests start it with `python -m smlocal`.
"""

import io
import multiprocessing
import os
import pkgutil
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from multiprocessing.context import ForkServerProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any

import smlocal

_FOR_PYTHON = ("PYTHON", "LC_", "LANG")
"""Settings that a Python reads while it starts, too late for one that has been started."""
_PYTHON = sys.executable
_ROOT = Path(__file__).resolve().parents[2]


def fork(target: Callable[..., None], *arguments: Any) -> ForkServerProcess:
    """Have a function called in a new process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_everything())
    if str(_ROOT) not in sys.path:  # the new process looks for this module where this one would
        sys.path.insert(0, str(_ROOT))
    process = context.Process(target=target, args=arguments)
    process.start()
    return process


@cache
def _everything() -> list[str]:
    ours = [module.name for module in pkgutil.walk_packages(smlocal.__path__, "smlocal.")]
    return [*ours, "boto3", "tests.kit.fixtures"]


def run_smlocal(
    arguments: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    cwd: Path | None = None,
    stdin: str = "",
    timeout: float = 240,
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, as `subprocess.run` does; what it writes need not be text."""
    words = ["smlocal", *map(str, arguments)]
    if sys.executable != _PYTHON or _for_python(environment) != _for_python(os.environ):
        return subprocess.run(
            [sys.executable, "-m", *words],
            cwd=cwd,
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
            timeout=timeout,
        )
    deadline = time.monotonic() + timeout
    with tempfile.TemporaryFile() as given:
        given.write(stdin.encode())
        given.seek(0)
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        streams = [_Stream(given.fileno()), _Stream(out_end), _Stream(err_end)]
        process = fork(_smlocal, words, str(cwd or Path.cwd()), dict(environment), streams)
        os.close(out_end)
        os.close(err_end)
    try:
        said = [_text(each) for each in _read((out, err), deadline)]
        process.join(deadline - time.monotonic())
        if process.exitcode is None:
            raise subprocess.TimeoutExpired(words, timeout)
        return subprocess.CompletedProcess(words, process.exitcode, *said)
    except TimeoutError:
        raise subprocess.TimeoutExpired(words, timeout) from None
    finally:
        os.close(out)
        os.close(err)
        process.kill()
        process.join()
        process.close()


def _for_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_FOR_PYTHON)}


class _Stream:
    """An open file on its way to another process, where it becomes its number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _number_there, (DupFd(self.number),)


def _number_there(handle: Any) -> int:
    number: int = handle.detach()
    return number


def _read(ends: Sequence[int], deadline: float) -> list[bytes]:
    """Everything, until no process is left that could write more."""
    read = {end: bytearray() for end in ends}
    with selectors.DefaultSelector() as selector:
        for end in ends:
            selector.register(end, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                piece = os.read(key.fd, 65536)
                read[key.fd] += piece
                if not piece:
                    selector.unregister(key.fd)
    return [bytes(each) for each in read.values()]


def _text(data: bytes) -> str:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="backslashreplace").read()


def _smlocal(words: list[str], cwd: str, environment: dict[str, str], streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115 - for good
    begin_in(environment, cwd)
    sys.argv = words
    from smlocal.__main__ import main

    main()


def begin_in(environment: Mapping[str, str], cwd: str) -> None:
    """Make this process one that was started there, with what the environment has a Python import first."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for folder in filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)):
        if Path(folder, "sitecustomize.py").exists():
            sys.modules.pop("sitecustomize", None)
            sys.path.insert(0, folder)
            __import__("sitecustomize")
            return

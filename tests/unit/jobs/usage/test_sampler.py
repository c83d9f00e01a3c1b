"""Sampling a container whose engine answers with errors or nonsense, over a real socket."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import EngineAddress
from smlocal.jobs.usage.sampler import Sampler
from smlocal.jobs.usage.series import read_series

RUNNING = {
    "read": "2026-11-21T21:50:07.94654443Z",
    "cpu_stats": {"cpu_usage": {"total_usage": 2_000_000_000}, "online_cpus": 2},
    "memory_stats": {"usage": 5000, "stats": {"inactive_file": 1000}},
}
Serve = Callable[[int, bytes], DockerEngine]


def answer(status: int, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} X\r\nApi-Version: 1.41\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.fixture
def serve(short_folder: Path) -> Iterator[Serve]:
    """An engine that answers every question but the greeting in the same way."""
    path = str(short_folder / "engine.sock")
    listener = socket.socket(socket.AF_UNIX)
    threads: list[threading.Thread] = []

    def start(status: int, body: bytes) -> DockerEngine:
        listener.bind(path)
        listener.listen()

        def work() -> None:
            while True:
                with listener.accept()[0] as connection:
                    asked = connection.recv(65536)
                    if not asked:
                        return
                    connection.sendall(answer(200, b"OK") if b"/_ping" in asked else answer(status, body))

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return DockerEngine(EngineAddress(address=f"unix://{path}", path=path))

    yield start
    for thread in threads:
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(path)
        thread.join()
    listener.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "usage" / "algo-1.csv"


def sampler(engine: DockerEngine, path: Path, *folders: tuple[str, str]) -> Sampler:
    return Sampler(engine, "c1", path=str(path), gpus=None, folders=folders, elapsed=1.0)


def test_numbers_are_kept_and_folders_counted(serve: Serve, path: Path, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    one = sampler(serve(200, json.dumps(RUNNING).encode()), path, (str(tmp_path / "model"), "/opt/ml/model"))
    for _ in range(3):
        one.keep(one.ask())
    one.finish()
    series = read_series(str(path))
    assert [point.memory for point in series.points] == [4000] * len(series.points)
    assert 1 <= len(series.points) <= 3
    assert (series.notes, list(series.held)) == ((), ["/opt/ml/model"])


@pytest.mark.parametrize(
    ("status", "body", "note"),
    [
        (500, b'{"message": "out of order"}', "The engine did not report its usage: out of order"),
        (200, b'{"read": "never", "cpu_stats": {"cpu_usage": {"total_usage": 1}}, "memory_stats": {"usage": 1}}', ""),
        (200, b"[]", ""),
        (200, b'{"memory_stats"', ""),
    ],
)
def test_an_engine_that_cannot_tell_is_noted_once(
    status: int, body: bytes, note: str, serve: Serve, path: Path, tmp_path: Path
) -> None:
    one = sampler(serve(status, body), path, (str(tmp_path), "/opt/ml/model"))
    for _ in range(4):
        one.keep(one.ask())
    one.finish()
    series = read_series(str(path))
    assert (series.points, series.held) == ((), {})
    (said,) = series.notes
    assert said.startswith(note or "The engine did not report its usage: ")


@pytest.mark.parametrize("status", [404, 409])
def test_a_container_that_has_gone_is_no_trouble(status: int, serve: Serve, path: Path) -> None:
    one = sampler(serve(status, b'{"message": "No such container"}'), path)
    for _ in range(4):
        one.keep(one.ask())
    one.finish()
    assert not path.parent.exists()


def test_a_single_refusal_may_be_the_end(serve: Serve, path: Path) -> None:
    one = sampler(serve(500, b'{"message": "out of order"}'), path)
    one.keep(one.ask())
    one.finish()
    assert not path.parent.exists()


def test_a_short_job_imports_nothing_for_it(tmp_path: Path) -> None:
    code = f"""
import sys, threading
from smlocal.engine.engines import connect
from smlocal.jobs.usage.usage_watch import UsageWatch
watch = UsageWatch()
watch.begin(connect(), "c1", path="{tmp_path}/usage/algo-1.csv", gpus=["0"], folders=[("{tmp_path}", "/opt/ml/model")])
watch.close()
watch.close()
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()
late = {{"smlocal.jobs.usage.sampler", "subprocess", "datetime"}}
print(sorted(late & set(sys.modules)))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
    assert list(tmp_path.iterdir()) == []

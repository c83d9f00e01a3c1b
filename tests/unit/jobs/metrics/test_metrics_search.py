"""The process that reads logs, begun and ended as a supervisor does it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until

from smlocal.jobs.logs.log_file import LogFile
from smlocal.jobs.metrics.found_values import summaries
from smlocal.jobs.metrics.job_metrics import MetricsReport, MetricsSearch
from smlocal.terms.metrics import MetricPattern

LOSS = MetricPattern(name="loss", regex=r"loss=([0-9.]+)")
BOMB = MetricPattern(name="bomb", regex=r"(a+)+$")
BAD = b"a" * 60 + b"!\n"


def path_of(folder: Path, host: str) -> str:
    return f"{folder}/logs/{host}.log"


@pytest.fixture
def search_of(tmp_path: Path) -> Callable[..., MetricsSearch]:
    def make(
        *definitions: MetricPattern, hosts: tuple[str, ...] = ("algo-1",), stuck_seconds: float = 60
    ) -> MetricsSearch:
        logs = {host: path_of(tmp_path, host) for host in hosts}
        return MetricsSearch(
            job_directory=str(tmp_path), definitions=definitions, logs=logs, stuck_seconds=stuck_seconds
        )

    return make


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., None]:
    def write(search: MetricsSearch, data: bytes, host: str = "algo-1") -> None:
        log = LogFile(path_of(tmp_path, host))
        log.write(data)
        search.begin()
        assert log.close() is None

    return write


def value_of(report: MetricsReport) -> dict[str, float]:
    return {each["MetricName"]: each["Value"] for each in report.final}


def count_of(folder: Path) -> int:
    return summaries(str(folder), [LOSS], ["algo-1"])[0].count


def test_values_are_found_while_the_log_grows(
    tmp_path: Path, search_of: Callable[..., MetricsSearch], write: Callable[..., None]
) -> None:
    search = search_of(LOSS)
    for number in range(3):
        write(search, b"loss=%d\n" % number)
        until(lambda number=number: count_of(tmp_path) == number + 1)  # type: ignore[misc]
    write(search, b"loss=0.03457")
    before = int(time.time()) - 60
    report = search.finish()
    assert value_of(report) == {"loss": 0.03457000106573105}
    assert before <= report.final[0]["Timestamp"] <= time.time()
    assert report.notes == []


def test_a_job_without_definitions_begins_nothing(
    tmp_path: Path, search_of: Callable[..., MetricsSearch], write: Callable[..., None]
) -> None:
    search = search_of()
    write(search, b"loss=1\n")
    assert search.finish() == MetricsReport()
    assert os.listdir(tmp_path) == ["logs"]


def test_a_job_that_never_wrote_has_no_metrics(search_of: Callable[..., MetricsSearch]) -> None:
    search = search_of(LOSS)
    search.begin()
    assert search.finish() == MetricsReport()
    assert search._process is not None
    assert search._process.returncode is not None


def test_the_later_of_two_hosts_wins(search_of: Callable[..., MetricsSearch], write: Callable[..., None]) -> None:
    search = search_of(LOSS, hosts=("algo-1", "algo-2"))
    write(search, b"loss=2\n", "algo-2")
    time.sleep(0.05)
    write(search, b"loss=1\n", "algo-1")
    assert value_of(search.finish()) == {"loss": 1.0}


@pytest.mark.slow(0.5)
def test_a_slow_regex_is_named_and_spoils_nothing(
    search_of: Callable[..., MetricsSearch], write: Callable[..., None]
) -> None:
    search = search_of(BOMB, LOSS)
    write(search, BAD * 50 + b"loss=0.5\n")
    report = search.finish()
    assert value_of(report) == {"loss": 0.5}
    assert report.notes == [
        "the metric bomb was disabled: its regex took more than 100 ms for each of 3 lines, such as "
        + repr(BAD.decode().strip())
    ]


def test_metrics_that_matched_nothing_are_named(
    search_of: Callable[..., MetricsSearch], write: Callable[..., None]
) -> None:
    many = [MetricPattern(name=f"lr{number}", regex=r"lr=(\d)") for number in range(9)]
    search = search_of(LOSS, *many)
    write(search, b"loss=0.5\n")
    report = search.finish()
    assert report.without_values == [each.name for each in many]
    (note,) = report.notes
    assert note.startswith(f"no line had a value for the metrics {', '.join(report.without_values[:8])} and 1 more; ")


def test_a_metric_whose_regex_is_slow_is_named_once(
    search_of: Callable[..., MetricsSearch], write: Callable[..., None]
) -> None:
    search = search_of(LOSS, BOMB)
    write(search, BAD)
    report = search.finish()
    assert report.without_values == ["loss"]
    none, slow = report.notes
    assert none == "no line had a value for the metric loss; to try a regex: smlocal plan JOB --try-line TEXT"
    assert slow.startswith("1 line was skipped for the metric bomb")


def test_one_slow_line_is_passed_over(search_of: Callable[..., MetricsSearch], write: Callable[..., None]) -> None:
    search = search_of(MetricPattern(name="bomb", regex=r"(?:a+)+$|=(\d)"))
    write(search, BAD + b"=7\n")
    report = search.finish()
    assert value_of(report) == {"bomb": 7.0}
    assert [note.partition(",")[0] for note in report.notes] == [
        "1 line was skipped for the metric bomb: its regex took more than 100 ms"
    ]


def test_a_reader_that_was_killed_is_followed_by_another(
    tmp_path: Path, search_of: Callable[..., MetricsSearch], write: Callable[..., None]
) -> None:
    search = search_of(LOSS)
    write(search, b"loss=1\n")
    until(lambda: count_of(tmp_path) == 1)
    assert search._process is not None
    os.kill(search._process.pid, signal.SIGKILL)
    write(search, b"loss=2\n")
    report = search.finish()
    assert value_of(report) == {"loss": 2.0}
    assert count_of(tmp_path) == 2
    assert report.notes == ["the metrics process ended with -9; a new one read the logs from the start"]


def test_what_was_not_read_in_time_is_told(
    tmp_path: Path, search_of: Callable[..., MetricsSearch], write: Callable[..., None]
) -> None:
    search = search_of(LOSS, stuck_seconds=0.05)
    write(search, b"loss=1\n")
    until(lambda: count_of(tmp_path) == 1)
    assert search._process is not None
    os.kill(search._process.pid, signal.SIGSTOP)
    write(search, b"loss=2\n")
    report = search.finish()
    assert value_of(report) == {"loss": 1.0}
    (note,) = report.notes
    assert note.startswith("metrics are missing: the logs were not read completely ")
    assert note.endswith(" of 14 bytes of algo-1's log")


def test_a_reader_that_cannot_begin_fails_nothing(
    search_of: Callable[..., MetricsSearch], write: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    search = search_of(LOSS)
    write(search, b"loss=1\n")
    report = search.finish()
    assert report.final == []
    assert "could not start" in report.notes[0]


def test_a_reader_whose_supervisor_died_ends_by_itself(
    tmp_path: Path, search_of: Callable[..., MetricsSearch], write: Callable[..., None]
) -> None:
    search = search_of(LOSS)
    write(search, b"loss=1\nloss=2")
    process = search._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()  # as the end of the supervisor does
    assert process.wait(60) == 0
    last = summaries(str(tmp_path), [LOSS], ["algo-1"])[0].last
    assert last is not None
    assert last.value == 2.0


def test_forty_definitions_of_full_length_get_there(
    search_of: Callable[..., MetricsSearch], write: Callable[..., None]
) -> None:
    definitions = [MetricPattern(name=f"{'é' * 252}{index:03}", regex=f"{'é' * 490}=(.)|v=(.)") for index in range(39)]
    search = search_of(*definitions, LOSS)
    write(search, b"loss=3\n")
    assert value_of(search.finish()) == {"loss": 3.0}


def test_a_reader_that_is_killed_at_its_start_is_followed_by_another(
    search_of: Callable[..., MetricsSearch], write: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As by Ctrl-C, before it has a session of its own.
    real = subprocess.Popen

    def dying(*arguments: Any, **more: Any) -> Any:
        monkeypatch.setattr(subprocess, "Popen", real)
        process = real(*arguments, **more)
        process.kill()
        process.wait()
        return process

    search = search_of(LOSS)
    monkeypatch.setattr(subprocess, "Popen", dying)
    write(search, b"loss=1\n")
    report = search.finish()
    assert value_of(report) == {"loss": 1.0}
    assert report.notes == ["the metrics process ended with -9; a new one read the logs from the start"]

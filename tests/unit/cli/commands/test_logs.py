"""`smlocal logs` on logs that are there."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.jobs.logs.log_file import TimesFile, times_path
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED

Run = Callable[..., bytes]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Puts logs of a finished job there, one of each host, and prints them."""

    def run(*options: str, written: tuple[bytes, ...], piped_to: str = "cat", limit: str = ":") -> bytes:
        hosts = [f"algo-{number + 1}" for number in range(len(written))]
        with Store.open(str(tmp_path)) as store:
            store.create(
                "job",
                run_id="0" * 8,
                created=1.0,
                documents={"request": {}},
                supervisor_pid=None,
                instances=len(hosts),
            ).release()
            end = COMPLETED
            store.transition("job", status=end.status, phase=end.phase, message=end.message, at=2.0)
            folder = f"{store.directory('job')}/logs"
        os.mkdir(folder)
        for host, data in zip(hosts, written, strict=True):
            Path(f"{folder}/{host}.log").write_bytes(data)
            times = TimesFile(times_path(f"{folder}/{host}.log"))
            times.note(0, 1_700_000_000.0)
            times.close()
        done = subprocess.run(
            [
                "bash",
                "-o",
                "pipefail",
                "-c",
                f'{limit}; "$0" -m smlocal logs job "$@" | {piped_to}',
                sys.executable,
                *options,
            ],
            env={**os.environ, "SMLOCAL_HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert done.stderr == b""
        assert done.returncode == 0 or piped_to != "cat"
        return done.stdout

    return run


WRITTEN = b"a\tb\n\x1b[31mred\x1b[0m\n10%\r20%\r\n\xff no end"
AT = b"2023-11-14T22:13:20.000Z "


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ((), b"a#011b\n#033[31mred#033[0m\n10%#01520%#015\n\xef\xbf\xbd no end"),
        (("--raw",), WRITTEN),
        (("--raw", "-t"), b"".join(AT + line + b"\n" for line in WRITTEN.split(b"\n"))),
        (("-f", "--host", "algo-1"), b"a#011b\n#033[31mred#033[0m\n10%#01520%#015\n\xef\xbf\xbd no end"),
    ],
    ids=str,
)
def test_one_host(run: Run, options: tuple[str, ...], shown: bytes) -> None:
    assert run(*options, written=(WRITTEN,)) == shown


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("follow", [(), ("--follow",)], ids=str)
def test_several_hosts_one_after_another(run: Run, follow: tuple[str, ...]) -> None:
    shown = run(*follow, written=(b"one\ntwo", b"", b"three\n"))
    assert shown == b"algo-1 | one\nalgo-1 | two\nalgo-3 | three\n"


def test_one_of_several_hosts_has_no_prefix(run: Run) -> None:
    assert run("--host", "algo-2", "--timestamps", written=(b"one\n", b"two\n")) == AT + b"two\n"


@pytest.mark.slow(0.5)
def test_a_line_of_fifty_megabytes_comes_whole_in_little_memory(run: Run) -> None:
    shown = run(limit="ulimit -v 100000", written=(b"x\t" * 25_000_000 + b"\nnext\n", b"other\n"), piped_to="wc -lc")
    assert [int(number) for number in shown.split()] == [3, 25_000_000 * 5 + 1 + 5 + 6 + 3 * len("algo-1 | ")]


def test_a_reader_who_has_had_enough_is_no_trouble(run: Run) -> None:
    assert run(written=(b"line\n" * 1_000_000,), piped_to="head -n 1") == b"line\n"


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("host", ["2", "algo-2"])
def test_one_host_by_its_number_or_name(host: str, run: Run) -> None:
    assert run("--host", host, written=(b"one\n", b"two\n")) == b"two\n"


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("lines", "written", "shown"),
    [
        (2, b"1\n2\n3\n", b"2\n3\n"),
        (2, b"1\n2\n3", b"2\n3"),
        (1, b"3\n\n", b"\n"),
        (9, b"1\n2\n3\n", b"1\n2\n3\n"),
        (0, b"1\n2\n3", b""),
        (1, b"", b""),
        (2, b"x" * 3_000_000 + b"\n" + b"y" * 3_000_000 + b"\nz\n", b"y" * 3_000_000 + b"\nz\n"),
    ],
    ids=lambda value: str(value)[:20],
)
@pytest.mark.parametrize("follow", [(), ("-f",)], ids=str)
def test_the_last_lines(run: Run, follow: tuple[str, ...], lines: int, written: bytes, shown: bytes) -> None:
    assert run("-n", str(lines), "--raw", *follow, written=(written,)) == shown


def test_the_last_lines_of_each_host_with_their_times(run: Run) -> None:
    shown = run("--tail", "1", "--timestamps", written=(b"1\n2\n", b"3\n4\n"))
    assert shown == AT + b"algo-1 | 2\n" + AT + b"algo-2 | 4\n"

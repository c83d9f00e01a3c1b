import re
from pathlib import Path

import pytest

from smlocal.jobs.logs import log_file as module
from smlocal.jobs.logs.log_file import BeginningGoneError, missed_output


@pytest.mark.parametrize(
    ("ours", "engine", "missing"),
    [
        (b"a\nb\n", b"a\nb\n", []),
        (b"a\nb\n", b"a\nb\nc\nd\n", [b"c\n", b"d\n"]),
        (b"a\nb\nc\n", b"a\nc\nb\nd\n", [b"d\n"]),
        (b"tick\ntick\n", b"tick\ntick\ntick\n", [b"tick\n"]),
        (b"a\nhal", b"a\nhalf\nb\n", [b"f\n", b"b\n"]),
        (b"a\nhal", b"a\nb\nhalf\nc\n", [b"f\n", b"b\n", b"c\n"]),
        (b"a\nhal", b"a\nb\n", [b"\n", b"b\n"]),
        (b"a\nhal", b"a\n", []),
        (b"", b"a\n", [b"a\n"]),
        (b"a\n\xff\r", b"a\n\xff\rb\n", [b"b\n"]),
    ],
)
@pytest.mark.parametrize("window", [8, 1 << 16])
def test_what_is_missing(
    ours: bytes, engine: bytes, missing: list[bytes], window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WINDOW", window)
    log = tmp_path / "log"
    log.write_bytes(b"earlier\n" + ours)
    found = list(missed_output(str(log), 8, [(1.0, line) for line in re.findall(rb"[^\n]*\n", engine)]))
    assert [line for _, line in found] == missing
    assert all(at == 1.0 for at, _ in found)


@pytest.mark.parametrize("engine", [[], [(1.0, b"c\n"), (2.0, b"d\n")]])
def test_an_engine_that_has_thrown_away_the_beginning(engine: list[tuple[float, bytes]], tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"a\nb\n")
    with pytest.raises(BeginningGoneError):
        list(missed_output(str(log), 0, engine))

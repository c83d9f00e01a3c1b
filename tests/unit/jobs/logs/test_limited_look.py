import itertools
from pathlib import Path

import pytest

from smlocal.jobs.logs.log_file import LimitedLook, LookEndedError, rewrite_log

ENDLESS = ((1.0, b"y\n") for _ in itertools.count())


def test_a_short_log_is_read_to_its_end() -> None:
    look = LimitedLook(limit=lambda: 60.0)
    assert list(look.pieces([(1.0, b"a\n"), (2.0, b"b\n")])) == [(1.0, b"a\n"), (2.0, b"b\n")]
    assert (look.lines, look.size) == (2, 4)


def test_an_endless_log_is_not() -> None:
    """And a request makes the time shorter."""
    limits = iter([60.0, 60.0, 60.0, 0.0])
    look = LimitedLook(limit=lambda: next(limits))
    with pytest.raises(LookEndedError):
        for _ in look.pieces(ENDLESS):
            pass
    assert "to line 768 (byte 1,536); lines after that may be missing" in look.left_out


@pytest.mark.parametrize(
    ("ours", "expected"), [(b"", b"kept\n" + b"y\n" * 256), (b"more" * 1000, b"kept\n" + b"more" * 1000)]
)
def test_a_log_is_replaced_by_what_was_read_only_if_that_is_more(ours: bytes, expected: bytes, tmp_path: Path) -> None:
    log = tmp_path / "algo-1.log"
    log.write_bytes(b"kept\n" + ours)
    limits = iter([60.0, 0.0])
    look = LimitedLook(limit=lambda: next(limits))
    with pytest.raises(LookEndedError):
        rewrite_log(str(log), 5, look.pieces(ENDLESS))
    assert log.read_bytes() == expected
    assert [each.name for each in tmp_path.iterdir() if "partial" in each.name] == []

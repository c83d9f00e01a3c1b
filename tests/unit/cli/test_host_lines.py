import pytest

from smlocal.cli.host_lines import HostLines


def shown(pieces: list[bytes], *, terminal: bool = False) -> bytes:
    lines = HostLines("algo-1", terminal=terminal)
    return b"".join([*(lines.take(piece) for piece in pieces), lines.rest(), lines.rest()])


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([b"one\ntwo\n"], b"algo-1 | one\nalgo-1 | two\n"),
        ([b"o", b"ne", b"\n", b"t", b"wo"], b"algo-1 | one\nalgo-1 | two\n"),
        ([b"\n\n"], b"algo-1 | \nalgo-1 | \n"),
        ([b""], b""),
        ([b"a\rb\n"], b"algo-1 | a\rb\n"),
        ([b"\xff\xfe\n"], b"algo-1 | \xff\xfe\n"),
    ],
)
def test_every_line_has_the_name(pieces: list[bytes], expected: bytes) -> None:
    assert shown(pieces) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"\r1%\r2%\n", b"algo-1 | \ralgo-1 | 1%\ralgo-1 | 2%\n"),
        (b"dos\r\nlines\r\n", b"algo-1 | dos\nalgo-1 | lines\n"),
        (b"plain\n", b"algo-1 | plain\n"),
    ],
)
def test_a_terminal_shows_the_name_before_what_overwrites_it(text: bytes, expected: bytes) -> None:
    assert shown([text], terminal=True) == expected


def test_a_long_line_is_put_together_once() -> None:
    # Putting it together with each piece took a minute for this one.
    lines = HostLines("algo-1", terminal=False)
    piece = b"x" * 4096
    assert not any(lines.take(piece) for _ in range(25_000))
    assert len(lines.take(b"\n")) == len(b"algo-1 | \n") + 25_000 * 4096

import pytest

from smlocal.cli.views.host_prefix import host_lines


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (b"one\ntwo\n", b"algo-1 | one\nalgo-1 | two\n"),
        (b"one\ntwo", b"algo-1 | one\nalgo-1 | two\n"),
        (b"\n\n", b"algo-1 | \nalgo-1 | \n"),
        (b"", b""),
        (b"a\rb\n", b"algo-1 | a\rb\n"),
        (b"\xff\xfe\n", b"algo-1 | \xff\xfe\n"),
    ],
)
def test_every_line_has_the_name(lines: bytes, expected: bytes) -> None:
    assert host_lines("algo-1", lines, terminal=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"\r1%\r2%\n", b"algo-1 | \ralgo-1 | 1%\ralgo-1 | 2%\n"),
        (b"dos\r\nlines\r\n", b"algo-1 | dos\nalgo-1 | lines\n"),
        (b"plain\n", b"algo-1 | plain\n"),
    ],
)
def test_a_terminal_shows_the_name_before_what_overwrites_it(text: bytes, expected: bytes) -> None:
    assert host_lines("algo-1", text, terminal=True) == expected

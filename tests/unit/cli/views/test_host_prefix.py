import pytest

from smlocal.cli.views.log_lines import _COLOURS, host_prefix, prefixed_lines


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
    assert prefixed_lines(b"algo-1 | ", lines, terminal=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"\r1%\r2%\n", b"algo-1 | \ralgo-1 | 1%\ralgo-1 | 2%\n"),
        (b"dos\r\nlines\r\n", b"algo-1 | dos\nalgo-1 | lines\n"),
        (b"plain\n", b"algo-1 | plain\n"),
    ],
)
def test_a_terminal_shows_the_name_before_what_overwrites_it(text: bytes, expected: bytes) -> None:
    assert prefixed_lines(b"algo-1 | ", text, terminal=True) == expected


@pytest.mark.parametrize("colour", _COLOURS)
def test_colours_are_those_that_the_terminal_chooses(colour: str) -> None:
    # Black and white would be lost on one background or the other; red is for failures.
    assert colour.removeprefix("1;") in {"32", "33", "34", "35", "36"}


def test_a_host_has_its_colour_and_its_neighbour_another() -> None:
    prefixes = {name: host_prefix(name, coloured=True) for name in ("algo-1", "algo-2", "algo-11")}
    assert prefixes["algo-1"] == b"\033[36malgo-1 |\033[0m "
    colours = {name: prefix.partition(b"m")[0] for name, prefix in prefixes.items()}
    assert colours["algo-1"] == colours["algo-11"] != colours["algo-2"]
    assert host_prefix("algo-1", coloured=False) == b"algo-1 | "

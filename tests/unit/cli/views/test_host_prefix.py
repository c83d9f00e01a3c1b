import pytest

from smlocal.cli.views.host_prefix import _COLOURS, host_prefix, prefixed_lines


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


def luminance(colour: int) -> float:
    """Of one of the 6 × 6 × 6 colours of the palette that terminals share."""
    levels = (0, 95, 135, 175, 215, 255)
    parts = [levels[(colour - 16) // step % 6] / 255 for step in (36, 6, 1)]
    red, green, blue = (((part + 0.055) / 1.055) ** 2.4 if part > 0.04 else part / 12.92 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colour", _COLOURS)
def test_colours_can_be_read_on_black_and_on_white(colour: int) -> None:
    assert (luminance(colour) + 0.05) / 0.05 > 3.5
    assert 1.05 / (luminance(colour) + 0.05) > 3.5


def test_a_host_has_its_colour_and_its_neighbour_another() -> None:
    prefixes = {name: host_prefix(name, coloured=True) for name in ("algo-1", "algo-2", "algo-8")}
    assert prefixes["algo-1"] == b"\033[38;5;32malgo-1 |\033[0m "
    colours = {name: prefix.partition(b"m")[0] for name, prefix in prefixes.items()}
    assert colours["algo-1"] == colours["algo-8"] != colours["algo-2"]
    assert host_prefix("algo-1", coloured=False) == b"algo-1 | "

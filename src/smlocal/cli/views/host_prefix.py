"""What is put in front of lines: the name of their host, in its colour."""

_COLOURS = ("36", "35", "32", "33", "34", "1;36", "1;35", "1;32", "1;33", "1;34")
"""Of the terminal's own colours, which people choose to be readable on their background. Red is for failures."""


def host_prefix(host: str, *, coloured: bool) -> bytes:
    """`algo-1 | `. A host always has the same colour."""
    if not coloured:
        return f"{host} | ".encode()
    number = host.rpartition("-")[2]
    colour = _COLOURS[(int(number) - 1 if number.isdecimal() else 0) % len(_COLOURS)]
    return f"\033[{colour}m{host} |\033[0m ".encode()


def prefixed_lines(prefix: bytes, lines: bytes, *, terminal: bool) -> bytes:
    """Put the prefix in front of each line. A last line without a newline gets one.

    On a `terminal` the prefix is also put after a carriage return, as progress bars write it.
    """
    if not lines:
        return b""
    lines = lines.removesuffix(b"\n")
    if terminal and b"\r" in lines:
        plain = lines.replace(b"\r\n", b"\n").removesuffix(b"\r")
        lines = plain.replace(b"\r", b"\r" + prefix)
    return prefix + lines.replace(b"\n", b"\n" + prefix) + b"\n"

"""Lines with the name of their host in front."""


def host_lines(host: str, lines: bytes, *, terminal: bool) -> bytes:
    """Put the name in front of each line. A last line without a newline gets one.

    On a `terminal` the name is also put after a carriage return, as progress bars write it.
    """
    if not lines:
        return b""
    prefix = f"{host} | ".encode()
    lines = lines.removesuffix(b"\n")
    if terminal and b"\r" in lines:
        plain = lines.replace(b"\r\n", b"\n").removesuffix(b"\r")
        lines = plain.replace(b"\r", b"\r" + prefix)
    return prefix + lines.replace(b"\n", b"\n" + prefix) + b"\n"

"""Lines of one of several hosts, with its name in front of each."""


def host_lines(host: str, lines: bytes, *, terminal: bool) -> bytes:
    """Put the name in front of lines; a last one without an end gets one.

    On a `terminal` a line that begins anew, as a progress bar's, has the name in front again.
    """
    if not lines:
        return b""
    mark = f"{host} | ".encode()
    lines = lines.removesuffix(b"\n")
    if terminal and b"\r" in lines:
        plain = lines.replace(b"\r\n", b"\n").removesuffix(b"\r")
        lines = plain.replace(b"\r", b"\r" + mark)
    return mark + lines.replace(b"\n", b"\n" + mark) + b"\n"

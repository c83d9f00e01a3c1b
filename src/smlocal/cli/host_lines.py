"""Lines of one of several hosts, with its name in front of each."""


class HostLines:
    """Takes pieces as they come. A line without an end is held back, however long it becomes."""

    def __init__(self, host: str, *, terminal: bool) -> None:
        """On a `terminal` a line that begins anew, as a progress bar's, has the name in front again."""
        self._mark = f"{host} | ".encode()
        self._terminal = terminal
        self._held: list[bytes] = []

    def take(self, data: bytes) -> bytes:
        """The lines that are whole by now."""
        head, newline, tail = data.rpartition(b"\n")
        if not newline:
            self._held.append(data)
            return b""
        lines = b"".join((*self._held, head))
        self._held = [tail] if tail else []
        return self._marked(lines)

    def rest(self) -> bytes:
        """What was held back, with an end; it is held no longer."""
        line = b"".join(self._held)
        self._held = []
        return self._marked(line) if line else b""

    def _marked(self, lines: bytes) -> bytes:
        if self._terminal and b"\r" in lines:
            plain = lines.replace(b"\r\n", b"\n").removesuffix(b"\r")
            lines = plain.replace(b"\r", b"\r" + self._mark)
        return self._mark + lines.replace(b"\n", b"\n" + self._mark) + b"\n"

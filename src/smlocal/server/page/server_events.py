"""Server-sent events: what a page that stays open is told."""

BEGIN = b"retry: 1000\n\n"
"""How soon a browser connects again, in milliseconds."""
ALIVE = b": alive\n\n"
"""Says nothing, so that both sides notice when the other one is gone."""


def event(kind: str, text: bytes = b"", *, position: int | None = None) -> bytes:
    """One event. A browser that connects again tells the last position."""
    place = b"" if position is None else b"id: %d\n" % position
    return b"event: %s\n%sdata: %s\n\n" % (kind.encode(), place, text.replace(b"\n", b"\ndata: "))


def part_event(name: str, html: str) -> bytes:
    """A part of the page. Its name is the first line."""
    return event("part", f"{name}\n{html}".encode())

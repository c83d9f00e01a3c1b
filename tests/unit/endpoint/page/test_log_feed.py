import asyncio
from pathlib import Path
from tempfile import NamedTemporaryFile

from hypothesis import given
from hypothesis import strategies as st

from smlocal.endpoint.page.topic import LogFeed, event, read_piece, read_tail
from smlocal.terms.log_view import view_of


def told(events: bytes) -> str:
    """The text of events, as a browser puts it together."""
    text = ""
    for each in events.decode().split("\n\n")[:-1]:
        lines = [line.removeprefix("data: ") for line in each.split("\n") if line.startswith("data: ")]
        text += "\n".join(lines)
    return text


@given(log=st.binary(max_size=60) | st.text(max_size=40).map(str.encode), cuts=st.lists(st.integers(0, 60)))
def test_pieces_are_the_log_as_the_service_shows_it_wherever_they_are_cut(log: bytes, cuts: list[int]) -> None:
    with NamedTemporaryFile() as file:
        path = Path(file.name)
        path.write_bytes(log)
        events, position = b"", 0
        for size in (*sorted(cuts), len(log)):
            piece = read_piece(str(path), position, min(size, len(log)))
            assert position <= piece.end <= len(log)
            assert len(log[piece.end : min(size, len(log))]) < 4
            events, position = events + piece.event, max(position, piece.end)
        events += read_piece(str(path), position, len(log), last=True).event
        assert told(events) == view_of(log)


def test_an_event_keeps_every_line_end() -> None:
    for text in ("", "\n", "a", "a\n", "\n\na\n\nb\n\n", "data: x\nevent: y\n"):
        assert told(event("log", text.encode(), position=3)) == text


def test_the_tail_begins_with_a_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert read_tail(str(path), lines=3).text == ""
    for content, lines, shown in (
        (b"", 3, ""),
        (b"a\nb\nc\nd\n", 3, "b\nc\nd\n"),
        (b"a\nb\nc\nd", 3, "b\nc\nd"),
        (b"a\nb", 3, "a\nb"),
        (b"x" * 300_000 + b"\nend\n", 3, "end\n"),
        (b"a\n\xc3", 3, "a\n"),
    ):
        path.write_bytes(content)
        tail = read_tail(str(path), lines=lines)
        assert tail.text == shown
        assert content[tail.start : tail.end].decode() == shown
    path.write_bytes(b"x" * 300_000)
    assert len(read_tail(str(path), lines=3).text) == 256 << 10


async def _twice(feed: LogFeed) -> bool:
    return await feed.piece(0) is await feed.piece(0)


def test_readers_at_one_place_share_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a\n" * 1_000_000)
    feed = LogFeed(str(path))
    assert asyncio.run(_twice(feed))
    assert sum(len(each.result().event) for each in feed._pieces.values()) < 2_000_000

from pathlib import Path

from smlocal.data.channels.fastfile.tree import Unread, UnreadLog, read_unread


def unread(number: int, code: str = "NoSuchKey") -> Unread:
    return Unread(uri=f"s3://b/{number}\né\udcff", code=code, why="it is gone\n")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = str(tmp_path / "unread")
    assert read_unread(path) == []
    log = UnreadLog(path)
    for each in (unread(1), unread(1), unread(2), unread(1, "AccessDenied"), unread(1)):
        log.add(each)
    assert read_unread(path) == [unread(1), unread(2), unread(1, "AccessDenied")]


def test_not_everything_is_written(tmp_path: Path) -> None:
    path = str(tmp_path / "unread")
    log = UnreadLog(path)
    for number in range(1000):
        log.add(unread(number))
    assert len(read_unread(path)) == 100


def test_a_line_that_was_not_finished_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "unread"
    UnreadLog(str(path)).add(unread(1))
    path.write_text(f'{path.read_text()}["s3://b/', encoding="utf-8")
    assert read_unread(str(path)) == [unread(1)]


def test_a_full_disk_is_no_further_trouble() -> None:
    UnreadLog("/dev/full").add(unread(1))

from pathlib import Path

from smlocal.ai_platform.run.container_events import mark_log
from smlocal.engine.interface import Written


def test_a_mark_begins_a_line_and_is_written_once_until_something_follows(tmp_path: Path) -> None:
    path, shown = tmp_path / "logs" / "master-0.log", list[Written]()
    mark_log(str(path), "attempt 1", shown.append)
    mark_log(str(path), "attempt 1", shown.append)
    assert path.read_bytes() == b"smlocal: attempt 1\n"
    path.write_bytes(path.read_bytes() + b"half a line")
    mark_log(str(path), "attempt 1", shown.append)
    assert path.read_bytes() == b"smlocal: attempt 1\nhalf a line\nsmlocal: attempt 1\n"
    assert len(shown) == 2

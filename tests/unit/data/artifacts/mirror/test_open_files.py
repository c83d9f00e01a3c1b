"""Files that are open, or being written, while they are mirrored."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.kit import until
from tests.unit.data.artifacts.mirror.mirror_rig import Rigs, files_in, mirrors

from smlocal.data.artifacts.mirror import file_copier

REWRITES = """
import os, sys
number = 0
while os.path.exists(sys.argv[2]):
    number += 1
    with open(sys.argv[1], "wb") as file:
        for _ in range(64):
            file.write(b"%09d\\n" % number * 100)
"""


@contextmanager
def rewritten(path: Path, going: Path) -> Iterator[None]:
    """Another process rewrites the file all the time."""
    going.touch()
    writer = subprocess.Popen([sys.executable, "-c", REWRITES, str(path), str(going)])
    try:
        yield
    finally:
        going.unlink()
        assert writer.wait() == 0


@pytest.mark.linux("the kernel tells whether a file is being written")
def test_a_file_is_not_shown_before_it_is_closed(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    with (folder / "slow").open("w") as slow:
        slow.write("half")
        slow.flush()
        (folder / "other").write_text("1")
        until(mirrors(made, other="1"))
        # Compared as a whole it is seen, but somebody is still writing it.
        made.stop()
        made.resume()
        (folder / "other").write_text("2")
        until(mirrors(made, other="2"))
        slow.write(" and half")
    until(mirrors(made, other="2", slow="half and half"))


@pytest.mark.slow
@pytest.mark.linux("the kernel tells whether a file is being written")
def test_a_file_that_is_rewritten_all_the_time_is_seen_whole(rig: Rigs) -> None:
    made = rig()
    folder = made.start()
    seen: set[bytes] = set()

    def seen_twice() -> bool:
        content = made.mirrored().get("hot")
        if content is not None:
            assert len(content) == 64_000
            assert len(set(content.split())) == 1
            seen.add(content)
        return len(seen) == 2

    with rewritten(folder / "hot", made.root / "going"):
        until(seen_twice)
    made.finish()
    assert files_in(made.target) == files_in(folder)


@pytest.mark.slow(0.5)
def test_logs_are_mirrored_while_they_are_open(rig: Rigs) -> None:
    made = rig(grows=True)
    folder = made.start()
    with (folder / "events").open("w") as events:
        for count in range(1, 4):
            events.write("x")
            events.flush()
            until(mirrors(made, events="x" * count))
        events.write("end")
    made.finish()
    assert files_in(made.target) == {"events": b"xxxend"}


@pytest.mark.linux("the kernel tells whether a file is being written")
def test_whether_somebody_writes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("1")
    reader = os.open(path, os.O_RDONLY)
    try:
        assert file_copier.has_writer(reader) is False
        with path.open("a"):
            assert file_copier.has_writer(reader) is True
        assert file_copier.has_writer(reader) is False
    finally:
        os.close(reader)


@pytest.mark.linux("the kernel tells whether a file is being written")
def test_who_begins_to_write_is_not_held_up_and_ends_nobody(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("1")
    answers: list[bool | None] = []
    with rewritten(path, tmp_path / "going"), path.open("rb") as reader:

        def asked_often() -> bool:
            answers.extend(file_copier.has_writer(reader.fileno()) for _ in range(2_000))
            return {True, False} <= set(answers) and len(answers) >= 10_000

        until(asked_often)
    assert None not in answers

import io
import tarfile
from pathlib import Path

import pytest

from smlocal.data.artifacts.ownership import give_to_user, ownership_archive


def test_everything_in_it_is_roots() -> None:
    data = ownership_archive(
        [("/opt/ml/input", 0o755, None), ("/opt/ml/input/config/a.json", 0o644, b'{"a":1}'), ("empty", 0o600, b"")],
        mtime=1_500_000_000,
    )
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = archive.getmembers()
        content = archive.extractfile(members[1])
        assert content is not None
        assert content.read() == b'{"a":1}'
    assert [(m.name, m.isdir(), m.mode, m.size, m.uid, m.gid, m.mtime) for m in members] == [
        ("opt/ml/input", True, 0o755, 0, 0, 0, 1_500_000_000),
        ("opt/ml/input/config/a.json", False, 0o644, 7, 0, 0, 1_500_000_000),
        ("empty", False, 0o600, 0, 0, 0, 1_500_000_000),
    ]


def test_or_somebody_elses() -> None:
    data = ownership_archive([("d", 0o700, None)], uid=3_000_000_000, gid=100)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        member = archive.getmember("d")
    assert (member.uid, member.gid) == (3_000_000_000, 100)


class Recording:
    """An engine of which only this is asked."""

    def __init__(self) -> None:
        self.owners: list[tuple[int, int]] = []

    def put_archive(self, _container: str, _path: str, data: bytes) -> None:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            self.owners += [(member.uid, member.gid) for member in archive]


@pytest.mark.parametrize(("rootless", "owner"), [(False, (4321, 4322)), (True, (0, 0))])
def test_for_a_rootless_engine_this_user_is_root(tmp_path: Path, rootless: bool, owner: tuple[int, int]) -> None:
    engine = Recording()
    folders = [(str(tmp_path), "/opt/ml/model")]
    give_to_user(engine, "c", folders, uid=4321, gid=4322, rootless=rootless)  # type: ignore[arg-type]  # see above
    assert engine.owners == [owner]

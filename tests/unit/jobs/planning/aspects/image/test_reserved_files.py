"""Which files of an archive of `/opt/ml` are named."""

import io
import tarfile
from collections.abc import Iterator

import pytest

from smlocal.jobs.planning.aspects.image.look import reserved_files

ROOT = "/opt/ml"


def archive(*names: str, size: int = 3) -> Iterator[bytes]:
    """As an engine streams it: names that end with `/` are folders."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as members:
        for name in ("ml/", *names):
            member = tarfile.TarInfo(name.rstrip("/"))
            member.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            member.size = 0 if name.endswith("/") else size
            members.addfile(member, io.BytesIO(bytes(member.size)))
    data.seek(0)
    return iter(lambda: data.read(10_000), b"")


def test_files_and_no_folders_and_nothing_of_code() -> None:
    found = reserved_files(
        archive("ml/code/", "ml/code/train.py", "ml/codec", "ml/input/", "ml/input/data/", "ml/model/w"),
        ROOT,
    )
    assert found == ("/opt/ml/codec", "/opt/ml/model/w")


def test_an_image_without_any() -> None:
    assert reserved_files(archive("ml/code/", "ml/code/train.py", "ml/model/"), ROOT) == ()


@pytest.mark.slow(0.5)
def test_a_few_are_enough_and_the_rest_is_not_read() -> None:
    rest = archive(*(f"ml/data/{number}" for number in range(10_000)))
    assert len(reserved_files(rest, ROOT)) == 4
    assert next(rest, None) is not None


def test_a_large_file_is_not_read_to_its_end() -> None:
    rest = archive("ml/code/", "ml/code/large", "ml/data/x", size=40 << 20)
    assert reserved_files(rest, ROOT) == ()
    assert next(rest, None) is not None


def test_names_can_be_shown_on_a_terminal() -> None:
    found = reserved_files(archive("ml/data/\x1b[2Jx", "ml/data/\udcff"), ROOT)
    assert found == (
        "/opt/ml/data/�[2Jx",
        "/opt/ml/data/�",
    )

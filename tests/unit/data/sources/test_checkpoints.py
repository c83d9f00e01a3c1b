"""The prefix that checkpoints are restored from and saved to."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from smlocal.data.sources.channel import list_again, list_checkpoints
from smlocal.errors import OutputUnusableError, SmlocalError, SourceUnmappedError, SourceUnreadableError
from smlocal.terms.listing import Listing

Fill = Callable[..., Path]
Lister = Callable[..., Listing]


@pytest.fixture
def checkpoints(tmp_path: Path) -> Lister:
    def make(uri: str, mapping: Mapping[str, str] | None = None, *, strict: bool = False) -> Listing:
        return list_checkpoints(
            uri,
            member="CheckpointConfig.S3Uri",
            directory=str(tmp_path),
            mapping=mapping or {},
            strict=strict,
            where="job.yaml:3",
        )

    return make


@pytest.mark.parametrize("uri", ["data", "./data/", "file://data", "{tmp}/data", "file://{tmp}/data/"])
def test_a_local_folder_in_any_spelling(uri: str, checkpoints: Lister, fill: Fill, tmp_path: Path) -> None:
    fill("b", "sub/a", "a")
    listing = checkpoints(uri.format(tmp=tmp_path))
    assert listing.root == str(tmp_path / "data")
    assert listing.paths == ("a", "b", "sub/a")
    assert listing.uri("sub/a") == f"file://{tmp_path}/data/sub/a"
    assert listing.prefix == f"{tmp_path}/data/"[1:]


@pytest.mark.parametrize(
    ("uri", "below", "prefix", "key_base"),
    [
        ("s3://b/ckpt", "data", "ckpt", "ckpt/"),
        ("s3://b/ckpt/", "data", "ckpt/", "ckpt/"),
        ("s3://b/ckpt/run-1", "data/run-1", "ckpt/run-1", "ckpt/run-1/"),
        ("s3://b/ckpt/run-1/", "data/run-1", "ckpt/run-1/", "ckpt/run-1/"),
    ],
)
def test_a_mapped_prefix_names_a_folder(
    uri: str, below: str, prefix: str, key_base: str, checkpoints: Lister, fill: Fill, tmp_path: Path
) -> None:
    fill("run-1/a", "run-10/a")
    listing = checkpoints(uri, {"s3://b/ckpt": "./data"})
    assert (listing.root, listing.prefix, listing.key_base) == (str(tmp_path / below), prefix, key_base)
    assert listing.uri("a") == f"s3://b/{key_base}a"
    assert listing.paths == (("a",) if "run-1" in uri else ("run-1/a", "run-10/a"))


def test_a_whole_bucket(checkpoints: Lister, fill: Fill) -> None:
    fill("a")
    assert checkpoints("s3://b", {"s3://b/": "data"}).uri("a") == "s3://b/a"


def test_what_is_not_there_yet_is_empty(checkpoints: Lister, tmp_path: Path) -> None:
    listing = checkpoints("s3://b/ckpt/deep/er", {"s3://b": "./not/yet"})
    assert listing.root == str(tmp_path / "not/yet/ckpt/deep/er")
    assert (listing.paths, listing.total_bytes, listing.prefix) == ((), 0, "ckpt/deep/er")
    assert not (tmp_path / "not").exists()


def test_an_empty_folder_is_fine(checkpoints: Lister, tmp_path: Path) -> None:
    (tmp_path / "data" / "sub").mkdir(parents=True)
    assert checkpoints("data").paths == ()


def test_it_can_be_listed_again_under_the_same_names(checkpoints: Lister, tmp_path: Path) -> None:
    first = checkpoints("s3://b/ckpt", {"s3://b": "."})
    (tmp_path / "ckpt").mkdir()
    (tmp_path / "ckpt" / "a").write_text("1")
    again = list_again(first)
    assert again.paths == ("a",)
    assert again.uri("a") == "s3://b/ckpt/a"
    assert (again.prefix, again.root) == (first.prefix, first.root)


def test_what_a_killed_save_has_left_is_no_checkpoint(checkpoints: Lister, fill: Fill) -> None:
    fill("a", "sub/.0123.sagemaker-uploading")
    assert checkpoints("data").paths == ("a",)


def test_links_count_as_what_they_lead_to(checkpoints: Lister, fill: Fill) -> None:
    folder = fill("one")
    (folder / "latest").symlink_to("one")
    (folder / "nowhere").symlink_to("gone")
    listing = checkpoints("data")
    assert listing.paths == ("latest", "one")
    assert listing.skipped == ("nowhere is a broken link",)


@pytest.mark.parametrize("uri", ["data/file", "data/file/", "data/file/below", "s3://b/file", "s3://b/file/x"])
def test_a_file_is_refused(uri: str, checkpoints: Lister, fill: Fill, tmp_path: Path) -> None:
    fill("file")
    with pytest.raises(OutputUnusableError, match="cannot be a folder") as caught:
        checkpoints(uri, {"s3://b": "data"})
    assert str(tmp_path / "data" / "file") in caught.value.sentence
    assert caught.value.details == (f"job.yaml:3   CheckpointConfig.S3Uri: {uri}",)


def test_an_unmapped_prefix_is_refused(checkpoints: Lister) -> None:
    with pytest.raises(SourceUnmappedError) as caught:
        checkpoints("s3://b/ckpt", {"s3://b/ckpt-old": "data"})
    assert "s3://b/ckpt" in caught.value.sentence
    assert "Local: {Sources:" in caught.value.remedy[0]


@pytest.mark.parametrize("uri", ["s3://b/..", "s3://b/a/../../x", "s3://b/a//x", "s3://b/./a", "s3://b/" + "n" * 256])
def test_a_key_that_no_folder_can_have_is_refused(uri: str, checkpoints: Lister) -> None:
    with pytest.raises(SourceUnmappedError, match="no local folder"):
        checkpoints(uri, {"s3://b": "data"})


def test_a_local_path_is_refused_when_strict(checkpoints: Lister) -> None:
    with pytest.raises(SourceUnmappedError, match="--strict"):
        checkpoints("./data", strict=True)
    assert checkpoints("s3://b/c", {"s3://b": "data"}, strict=True).paths == ()


@pytest.mark.parametrize("uri", ["a\0b", "n" * 300, "x/" + "n" * 256])
def test_odd_paths_end_in_an_error_of_ours(uri: str, checkpoints: Lister) -> None:
    with pytest.raises(SmlocalError):
        checkpoints(uri)


def test_a_user_without_rights_is_told(
    checkpoints: Lister, open_folder: Path, as_user: Callable[[], AbstractContextManager[None]]
) -> None:
    closed, own = open_folder / "closed", open_folder / "own"
    closed.mkdir()
    own.mkdir()
    (own / "secret").write_text("x")
    (own / "secret").chmod(0)
    if os.geteuid() == 0:
        os.chown(own, 65534, 65534)
    else:
        closed.chmod(0o555)
    with as_user():
        for path in (closed, closed / "new" / "one"):
            with pytest.raises(OutputUnusableError, match="may not write in"):
                checkpoints(str(path))
        with pytest.raises(SourceUnreadableError, match="may not read"):
            checkpoints(str(own))
        assert checkpoints(str(own / "new")).paths == ()

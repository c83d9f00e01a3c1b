"""Every way in which a source can be wrong has its own error, and says what to do."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from smlocal.data.sources.local_listing import list_folder, list_source
from smlocal.errors import SourceEmptyError, SourceMissingError, SourceUnmappedError, SourceUnreadableError
from smlocal.terms.listing import Listing

Lister = Callable[..., Listing]
Filler = Callable[..., Path]
User = Callable[[], AbstractContextManager[None]]


@pytest.mark.parametrize(
    ("uri", "near"),
    [
        ("./dataa", "./data"),
        ("dataa", "data"),
        ("dataa/", "data"),
        ("./data/trian/x", "./data/train"),
        ("file://{}/dtaa", "file://{}/data"),
        ("{}/dataa", "{}/data"),
    ],
)
def test_a_missing_path_is_named_with_its_neighbour(
    fill: Filler, listing_of: Lister, tmp_path: Path, uri: str, near: str
) -> None:
    fill("train/x")
    uri = uri.format(tmp_path)
    with pytest.raises(SourceMissingError) as caught:
        listing_of(uri, where="job.yaml:14")
    assert caught.value.sentence == f'channel "train": {uri} does not exist'
    assert caught.value.details == (f"job.yaml:14   S3Uri: {uri}",)
    assert caught.value.remedy == (f"Did you mean {near.format(tmp_path)}?",)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("uri", ["zzzzzzz", "data/x/", "a\0b", "a" * 300, "dangling"])
def test_a_missing_path_without_a_neighbour_is_still_clear(
    fill: Filler, listing_of: Lister, tmp_path: Path, uri: str
) -> None:
    fill("x")
    (tmp_path / "dangling").symlink_to("gone")
    with pytest.raises((SourceMissingError, SourceUnreadableError)) as caught:
        listing_of(uri)
    assert caught.value.sentence.startswith('channel "train": ')
    assert caught.value.details == (f"S3Uri: {uri}   in {tmp_path}",)
    assert caught.value.remedy == ()


def test_a_mapping_to_a_missing_folder_says_so(listing_of: Lister) -> None:
    with pytest.raises(SourceMissingError) as caught:
        listing_of("s3://b/train", {"s3://b/": "./gone"})
    assert caught.value.sentence == 'channel "train": ./gone does not exist'
    assert caught.value.details == ("S3Uri: s3://b/train", "Local.Sources maps it to ./gone")


@pytest.mark.parametrize("uri", ["s3://bucket/data/train", "https://bucket.example/data/train"])
def test_an_unmapped_location_shows_the_setting_to_write(listing_of: Lister, uri: str) -> None:
    with pytest.raises(SourceUnmappedError) as caught:
        listing_of(uri, {"s3://bucket/data/other/": "."})
    assert caught.value.sentence == f'channel "train": no local data is mapped to {uri}'
    folder = uri.removesuffix("train")
    assert caught.value.remedy[0] == f'Map it in the job file: Local: {{Sources: {{"{folder}": ./some/folder}}}}'


def test_strict_takes_no_local_path_but_mapped_ones(fill: Filler, listing_of: Lister) -> None:
    fill("x")
    with pytest.raises(SourceUnmappedError, match="--strict"):
        listing_of("./data", strict=True)
    assert listing_of("s3://b/", {"s3://b": "data"}, strict=True).paths == ("x",)


def test_an_empty_folder_is_refused_in_the_words_of_the_service(listing_of: Lister, tmp_path: Path) -> None:
    (tmp_path / "data" / "sub").mkdir(parents=True)
    with pytest.raises(SourceEmptyError) as caught:
        listing_of("s3://bucket/a/", {"s3://bucket/a": "data"})
    assert caught.value.sentence == (
        'No S3 objects found under S3 URL "s3://bucket/a/" given in input data source. Please ensure that the bucket '
        "exists in the selected region (eu-west-1), that objects exist under that S3 prefix, and that the role "
        '"arn:aws:iam::111122223333:role/r" has "s3:ListBucket" permissions on bucket "bucket".'
    )


@pytest.mark.parametrize(("below", "what"), [("data", "is empty"), ("data/sub", "holds no file")])
def test_an_empty_folder_of_this_machine_is_called_so(
    listing_of: Lister, tmp_path: Path, below: str, what: str
) -> None:
    (tmp_path / below).mkdir(parents=True)
    with pytest.raises(SourceEmptyError) as caught:
        listing_of("./data", where="job.yaml:14")
    assert caught.value.sentence == f'channel "train": the folder ./data {what}'
    assert caught.value.details == (
        "job.yaml:14   S3Uri: ./data",
        'The service would answer: No S3 objects found under S3 URL "./data" given in input data source.',
    )
    assert caught.value.remedy


@pytest.mark.parametrize("uri", ["/proc", "/proc/self", "/sys/kernel", "/proc/version", "file:///proc", "/"])
@pytest.mark.linux("only Linux has them")
def test_the_kernels_own_file_systems_are_no_source(listing_of: Lister, uri: str) -> None:
    with pytest.raises(SourceUnreadableError, match=r"is on a kernel file system \(\w+\)"):
        listing_of(uri)


@pytest.mark.linux("only Linux has them")
def test_a_link_into_them_is_refused(fill: Filler, listing_of: Lister) -> None:
    (fill("x") / "processes").symlink_to("/proc")
    with pytest.raises(SourceUnreadableError, match="cannot be listed: processes is a link into a kernel file system"):
        listing_of("data")


def test_a_prefix_without_objects_offers_a_similar_one(fill: Filler, listing_of: Lister) -> None:
    fill("train/x")
    with pytest.raises(SourceEmptyError) as caught:
        listing_of("s3://b/a/trian/", {"s3://b/a": "data"})
    assert caught.value.remedy == ("Did you mean s3://b/a/train?",)


def test_a_fifo_is_no_source(listing_of: Lister, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(SourceUnreadableError, match="neither a folder nor a regular file"):
        listing_of("fifo")


def test_one_object_cannot_be_renamed_by_a_mapping(fill: Filler, listing_of: Lister) -> None:
    fill("other.tgz")
    with pytest.raises(SourceUnmappedError, match="the file names differ"):
        listing_of("s3://b/model.tar.gz", {"s3://b/model.tar.gz": "data/other.tgz"})


def test_code_must_be_a_folder(fill: Filler, tmp_path: Path) -> None:
    fill("x")
    with pytest.raises(SourceMissingError, match=r"^Local\.Code: data/x is not a folder$"):
        list_folder("data/x", subject="Local.Code", member="Code", directory=str(tmp_path))


def listed(folder: Path, uri: str) -> Listing:
    return list_source(uri, channel="train", directory=str(folder), mapping={}, region="r", role="a")


def test_a_file_that_the_user_may_not_read_is_named(open_folder: Path, as_user: User) -> None:
    for name in ("a", "b"):
        (open_folder / name).touch()
    (open_folder / "b").chmod(0)
    with as_user(), pytest.raises(SourceUnreadableError) as caught:
        listed(open_folder, ".")
    assert caught.value.sentence == f'channel "train": this user may not read {open_folder}/b'
    with as_user(), pytest.raises(SourceUnreadableError):
        listed(open_folder, "b")


def test_many_unreadable_files_are_counted_and_some_named(open_folder: Path, as_user: User) -> None:
    for number in range(7):
        (open_folder / f"f{number}").touch(mode=0)
    with as_user(), pytest.raises(SourceUnreadableError) as caught:
        listed(open_folder, ".")
    assert caught.value.sentence == 'channel "train": this user may not read 7 paths below .'
    assert caught.value.details == (
        f"S3Uri: .   in {open_folder}",
        *(f"{open_folder}/f{n}" for n in range(5)),
        "… and 2 more",
    )


@pytest.mark.parametrize("uri", [".", "closed", "closed/x", "link"])
def test_a_folder_that_the_user_may_not_enter_is_refused(open_folder: Path, as_user: User, uri: str) -> None:
    (open_folder / "closed").mkdir()
    (open_folder / "closed" / "x").touch()
    (open_folder / "link").symlink_to("closed/x")
    (open_folder / "closed").chmod(0)
    try:
        with as_user(), pytest.raises(SourceUnreadableError):
            listed(open_folder, uri)
    finally:
        (open_folder / "closed").chmod(0o700)


def test_root_may_read_everything(open_folder: Path) -> None:
    (open_folder / "x").touch(mode=0)
    if os.geteuid() == 0:
        assert listed(open_folder, ".").paths == ("x",)
    else:
        with pytest.raises(SourceUnreadableError):
            listed(open_folder, ".")

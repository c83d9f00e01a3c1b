"""Files that a killed server was receiving are removed by the next one; those being received stay."""

import os
from pathlib import Path

import pytest

from smlocal.endpoint.objects.bucket_folder import Bucket, create_bucket, remove_unfinished
from smlocal.endpoint.objects.object_files import Attributes
from smlocal.endpoint.objects.s3_documents import S3CallError
from smlocal.endpoint.objects.s3_front import UploadFolder


def test_only_files_without_a_writer_are_removed(tmp_path: Path) -> None:
    create_bucket(str(tmp_path), "data")
    bucket = Bucket(str(tmp_path), "data")
    upload = UploadFolder.create(bucket, "k", {})
    partial = tmp_path / ".smlocal" / "data" / "partial"
    with bucket.new_file() as new:
        new.write(b"1")
        (received,) = partial.iterdir()
        abandoned, young = partial / "abandoned", partial / "young"
        abandoned.write_text("of a killed server")
        young.write_text("its writer is about to lock it")
        for each in (received, abandoned):
            os.utime(each, (1, 1))
        remove_unfinished(str(tmp_path))
        assert set(partial.iterdir()) == {received, young}
    assert set(partial.iterdir()) == {young}
    assert UploadFolder(bucket, "k", upload.id).parts() == []


def test_a_bucket_on_another_file_system_says_so(tmp_path: Path) -> None:
    elsewhere = Path("/dev/shm") / f"smlocal-test-{os.getpid()}"
    if not os.path.isdir("/dev/shm") or os.stat("/dev/shm").st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no other file system here")
    elsewhere.mkdir()
    try:
        (tmp_path / "data").symlink_to(elsewhere)
        bucket = Bucket(str(tmp_path), "data")
        with bucket.new_file() as new, pytest.raises(S3CallError, match="another file system"):
            bucket.put("k", new, bucket.attributes.read("k", new.state()))
        assert list(elsewhere.iterdir()) == []
    finally:
        elsewhere.rmdir()


def test_a_repository_around_the_buckets_does_not_list_what_is_ours(tmp_path: Path) -> None:
    create_bucket(str(tmp_path), "data")
    bucket = Bucket(str(tmp_path), "data")
    ignored = tmp_path / ".smlocal" / ".gitignore"
    for _ in range(2):
        with bucket.new_file() as new:
            new.write(b"1")
            bucket.put("k", new, Attributes(etag="1", headers={}, checksums={}))
        assert ignored.read_text() == "*\n"
    ignored.write_text("# of somebody\n")
    bucket.remove("k")
    assert ignored.read_text() == "# of somebody\n"

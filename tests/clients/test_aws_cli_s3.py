"""The AWS CLI and S3: as a user types it, by `smlocal exec`, so with AWS's own host names and its default checksums."""

import sys
from pathlib import Path

import pytest
from tests.clients.conftest import User, client_folder


@pytest.mark.slow(27)
def test_files_are_copied_listed_and_synchronised(user: User) -> None:
    aws = client_folder("aws-cli") / "bin" / "aws"

    def run(*words: str | Path) -> str:
        done = user.run([sys.executable, "-m", "smlocal", "exec", "--", aws, *words])
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    data = user.own / "data"
    (data / "in").mkdir(parents=True)
    (data / "in" / "a b").write_text("1")
    (data / "large").write_bytes(b"x" * (20 << 20))
    run("s3", "mb", "s3://data")
    run("s3", "sync", data, "s3://data/train")
    assert "20971520 large" in run("s3", "ls", "s3://data/train/")
    assert run("s3", "ls", "--recursive", "s3://data").count("train/") == 2
    kept = user.home / "buckets" / "data" / "train"
    assert (kept / "large").read_bytes() == (data / "large").read_bytes()
    assert run("s3", "sync", data, "s3://data/train") == "", "nothing has changed"
    (kept / "by-hand").write_text("2")
    run("s3", "sync", "--delete", "s3://data/train", data)
    assert (data / "by-hand").read_text() == "2"
    run("s3", "mv", "s3://data/train/by-hand", "s3://data/moved")
    assert run("s3", "cp", "s3://data/moved", "-") == "2"
    run("s3", "rm", "--recursive", "s3://data")
    run("s3", "rb", "s3://data")
    assert run("s3", "ls") == ""

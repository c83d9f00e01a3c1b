import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smlocal.errors import HomeUnusableError
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SMLOCAL_HOME": "/a/b", "XDG_DATA_HOME": "/x", "HOME": "/h"}, "/a/b"),
        ({"SMLOCAL_HOME": "~/jobs", "HOME": "/h"}, "/h/jobs"),
        ({"SMLOCAL_HOME": "", "XDG_DATA_HOME": "/x", "HOME": "/h"}, "/x/smlocal"),
        ({"XDG_DATA_HOME": "relative", "HOME": "/h"}, "/h/.local/share/smlocal"),
        ({"HOME": "/h"}, "/h/.local/share/smlocal"),
    ],
)
def test_where_the_home_is(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str) -> None:
    for name in ("SMLOCAL_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", "linux")
    assert home_directory() == expected


def test_a_relative_home_is_relative_to_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMLOCAL_HOME", "jobs")
    assert home_directory() == str(tmp_path / "jobs")


def test_only_the_owner_may_look_in(tmp_path: Path) -> None:
    home = tmp_path / "a" / "home with ?, # and %41"
    Store.open(str(home)).close()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "jobs").stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "smlocal.db").stat().st_mode) == 0o600
    assert sorted(path.name for path in home.iterdir()) == ["jobs", "smlocal.db"]


def refused(home: Path) -> HomeUnusableError:
    with pytest.raises(HomeUnusableError) as caught:
        Store.open(str(home))
    assert "SMLOCAL_HOME" in " ".join(caught.value.remedy)
    assert caught.value.exit_code == 3
    return caught.value


@pytest.mark.parametrize("link", [False, True])
def test_the_engine_takes_no_path_that_is_not_utf_8(tmp_path: Path, link: bool) -> None:
    home = tmp_path / os.fsdecode(b"home-\xff")
    if link:
        home.mkdir()
        (tmp_path / "link").symlink_to(home)
    error = refused(tmp_path / "link" if link else home)
    assert error.sentence.endswith("home-\\xff")
    assert "not UTF-8" in error.sentence
    assert link or not home.exists()


def test_the_home_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("x")
    assert str(tmp_path / "home") in refused(tmp_path / "home").sentence


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_somebody_elses_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 12345, 12345)
    error = refused(home)
    assert "belongs to another user" in error.sentence
    assert "12345" in " ".join(error.details)


def as_another_user(home: Path) -> subprocess.CompletedProcess[str]:
    """Opens the store with the rights of an ordinary user, which root's tests must give up first."""
    code = (
        "import os, sys\n"
        "from smlocal.jobs.store.jobs import Store\n"
        "from smlocal.errors import HomeUnusableError\n"
        "if os.geteuid() == 0: os.seteuid(12345)\n"
        "try: Store.open(sys.argv[1])\n"
        "except HomeUnusableError as error: print(error.sentence, *error.details, *error.remedy)\n"
    )
    return subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, text=True, check=True)


def test_a_home_without_the_right_to_write(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    if os.geteuid() == 0:
        os.chown(home, 12345, -1)
    said = as_another_user(home).stdout
    assert "Permission denied" in said
    assert "SMLOCAL_HOME" in said


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", str(disk)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"cannot mount here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_at_the_first_use(small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(bytes((1 << 20) - 8192))
    error = refused(small_disk)
    assert "disk with the job records is full" in error.sentence
    assert [path.name for path in small_disk.iterdir() if path.name.startswith(".")] == []


def test_a_disk_that_fills_up_undoes_the_change(small_disk: Path) -> None:
    with Store.open(str(small_disk)) as store:
        store.create("job-1", run_id="0", created=1.0, documents={}, supervisor_pid=1)
        with pytest.raises(HomeUnusableError, match="disk with the job records is full"):
            store.put_document("job-1", "Plan", "x" * (1 << 21))
        assert store.document("job-1", "Plan") is None
        store.put_document("job-1", "Plan", "small")
        assert store.document("job-1", "Plan") == "small"


def test_a_read_only_disk(small_disk: Path) -> None:
    Store.open(str(small_disk)).close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        refused(small_disk)
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)


def test_a_database_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "smlocal.db").write_text("this is no database at all, though it is quite long " * 100)
    error = refused(tmp_path)
    assert "damaged" in error.sentence
    assert (tmp_path / "smlocal.db").read_text().startswith("this is no database")


def read_all(home: Path) -> None:
    with Store.open(str(home)) as store:
        for number in range(50):
            store.document(f"job-{number}", "d")


def test_a_database_with_a_hole(tmp_path: Path) -> None:
    with Store.open(str(tmp_path)) as store:
        for number in range(50):
            store.create(f"job-{number}", run_id="0", created=1.0, documents={"d": "x" * 500}, supervisor_pid=1)
    with (tmp_path / "smlocal.db").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 20480)
    with pytest.raises(HomeUnusableError, match="damaged"):
        read_all(tmp_path)


def test_a_database_of_a_newer_smlocal(tmp_path: Path) -> None:
    Store.open(str(tmp_path)).close()
    with sqlite3.connect(tmp_path / "smlocal.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    error = refused(tmp_path)
    assert "newer smlocal" in error.sentence
    assert "99" in error.details[0]


def test_a_database_of_an_older_smlocal_is_brought_up_to_date(tmp_path: Path) -> None:
    with Store.open(str(tmp_path)) as store:
        plan = {
            "TrainingJobArn": "arn:aws:sagemaker:us-east-1:000000000000:training-job/kept",
            "Output": {"S3ModelArtifacts": "s3://bucket/kept/output/model.tar.gz"},
            "Hosts": [{"Name": "algo-1"}, {"Name": "algo-2"}],
        }
        store.create("kept", run_id="0", created=1.0, documents={"plan": plan}, supervisor_pid=1)
        store.create("without-plan", run_id="1", created=2.0, documents={}, supervisor_pid=1)
    with sqlite3.connect(tmp_path / "smlocal.db") as connection:
        connection.execute("DROP TABLE left_on_engines")
        connection.execute("DROP TABLE resources")
        for index in ("jobs_of_status", "jobs_by_arn"):
            connection.execute(f"DROP INDEX {index}")
        for column in ("arn", "model_uri", "instances", "platform"):
            connection.execute(f"ALTER TABLE jobs DROP COLUMN {column}")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with Store.open(str(tmp_path)) as store:
        assert store.left_on_engines() == []
        empty, kept = store.list()
        assert (empty.arn, empty.model_uri, empty.instances) == ("", "", 1)
        assert kept.arn == plan["TrainingJobArn"]
        assert kept.model_uri == "s3://bucket/kept/output/model.tar.gz"
        assert (kept.instances, kept.platform) == (2, "sagemaker")
        assert store.resources("model") == []


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    (tmp_path / "smlocal.db").touch()
    with Store.open(str(tmp_path)) as store:
        assert store.list() == []
    with sqlite3.connect(tmp_path / "smlocal.db") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_every_commit_reaches_the_disk(tmp_path: Path) -> None:
    with Store.open(str(tmp_path)) as store:
        assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL

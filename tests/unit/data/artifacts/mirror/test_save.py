"""Checkpoints restored, changed by hosts, and saved again."""

import errno
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kit import examples

from smlocal.base.unix_sockets import listen_at
from smlocal.data.artifacts.mirror import target as folder_target_module
from smlocal.data.artifacts.mirror.save import SaveReport, save
from smlocal.data.artifacts.mirror.target import FolderTarget
from smlocal.data.artifacts.tree import HostTree, walk
from smlocal.data.channels.download_channel import restore
from smlocal.data.sources.channel import list_checkpoints
from smlocal.errors import ArtifactError
from smlocal.terms.checkpoints import Restored

Files = Mapping[str, str]


class Job:
    """A prefix and some hosts that were given what it holds."""

    def __init__(self, root: Path, hosts: int = 1) -> None:
        self.root = root
        self.prefix = root / "prefix"
        self.numbers = range(1, hosts + 1)
        self.restored: list[Restored] = []

    def start(self) -> list[Path]:
        """Restore to every host; their folders."""
        listing = list_checkpoints(str(self.prefix), member="S3Uri", directory="/", mapping={})
        folders = [self.root / f"algo-{number}" for number in self.numbers]
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        self.restored = [restore(listing, str(folder)) for folder in folders]
        return folders

    def trees(self) -> list[HostTree]:
        return [walk(f"algo-{number}", str(self.root / f"algo-{number}")) for number in self.numbers]

    def save(self) -> SaveReport:
        return save(self.trees(), FolderTarget(path=str(self.prefix), run_id="0123abcd"), restored=self.restored)


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Job]:
    def make(hosts: int = 1, **files: str) -> Job:
        made = Job(tmp_path, hosts)
        if files:
            plant(made.prefix, {name.replace("__", "/"): content for name, content in files.items()})
        return made

    return make


def plant(folder: Path, files: Files) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def files_in(folder: Path) -> dict[str, str]:
    """Every file, and nothing but files and folders."""
    found = {}
    for path in folder.rglob("*"):
        assert path.is_dir() or path.is_file(), path
        if path.is_file():
            found[str(path.relative_to(folder))] = path.read_text()
    return found


def test_what_is_new_changed_and_deleted_is_saved(job: Callable[..., Job]) -> None:
    made = job(kept="kept", changed="old", gone__deep="gone", same__size="aa")
    (host,) = made.start()
    assert files_in(host) == {"kept": "kept", "changed": "old", "gone/deep": "gone", "same/size": "aa"}
    before = (made.prefix / "kept").stat()
    plant(host, {"changed": "new", "new/one": "1", "same/size": "bb"})
    shutil.rmtree(host / "gone")
    report = made.save()
    assert files_in(made.prefix) == {"kept": "kept", "changed": "new", "new/one": "1", "same/size": "bb"}
    assert report.written == ("changed", "new/one", "same/size")
    assert report.deleted == ("gone/deep",)
    assert not (made.prefix / "gone").exists()
    after = (made.prefix / "kept").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_nothing_to_restore_and_nothing_written_makes_no_folder(job: Callable[..., Job]) -> None:
    made = job()
    (host,) = made.start()
    assert host.is_dir()
    assert made.save().written == ()
    assert not made.prefix.exists()


def test_a_prefix_that_is_not_there_yet_is_made(job: Callable[..., Job]) -> None:
    made = job()
    made.prefix = made.root / "not" / "yet"
    (host,) = made.start()
    plant(host, {"a": "1"})
    made.save()
    assert files_in(made.prefix) == {"a": "1"}


def test_to_save_again_does_no_harm(job: Callable[..., Job]) -> None:
    made = job(a="1", b="2")
    (host,) = made.start()
    plant(host, {"a": "changed"})
    (host / "b").unlink()
    made.save()
    made.save()
    assert files_in(made.prefix) == {"a": "changed"}


def test_the_next_attempt_goes_on_where_the_last_one_was_interrupted(job: Callable[..., Job]) -> None:
    made = job()
    for number in range(1, 4):
        (host,) = made.start()
        assert files_in(host) == ({"count": str(number - 1)} if number > 1 else {})
        plant(host, {"count": str(number)})
        assert made.save().written == ("count",)


def test_restored_files_are_copies_with_the_modes_of_a_download(job: Callable[..., Job]) -> None:
    made = job(hosts=2, sub__a="1")
    (made.prefix / "sub" / "a").chmod(0o600)
    first, second = made.start()
    assert (first / "sub" / "a").stat().st_nlink == 1
    assert (first / "sub" / "a").stat().st_mode & 0o777 == 0o644
    assert (first / "sub").stat().st_mode & 0o777 == 0o755
    assert first.stat().st_mode & 0o777 == 0o755
    (first / "sub" / "a").write_text("changed")
    assert files_in(second) == files_in(made.prefix) == {"sub/a": "1"}


def test_restoring_into_a_folder_that_has_folders_already(job: Callable[..., Job], tmp_path: Path) -> None:
    made = job(data__a="1", data__deep__b="2")
    (tmp_path / "output" / "data").mkdir(parents=True)
    listing = list_checkpoints(str(made.prefix), member="S3Uri", directory="/", mapping={})
    assert set(restore(listing, str(tmp_path / "output")).files) == {"data/a", "data/deep/b"}
    assert files_in(tmp_path / "output") == {"data/a": "1", "data/deep/b": "2"}


def test_what_appeared_at_the_prefix_meanwhile_stays(job: Callable[..., Job]) -> None:
    made = job(a="1", b="2")
    (host,) = made.start()
    plant(made.prefix, {"new": "the user's", "a": "the user's"})
    (made.prefix / "b").unlink()
    plant(host, {"c": "3"})
    made.save()
    assert files_in(made.prefix) == {"a": "the user's", "new": "the user's", "c": "3"}


def test_a_hosts_old_copy_never_replaces_what_another_has_written(job: Callable[..., Job]) -> None:
    made = job(hosts=3, a="old", b="old", c="old")
    first, second, third = made.start()
    plant(first, {"a": "algo-1's"})
    (second / "b").unlink()
    (third / "c").unlink()
    plant(first, {"c": "algo-1's"})
    report = made.save()
    assert files_in(made.prefix) == {"a": "algo-1's", "c": "algo-1's"}
    assert report.clashes == ()
    assert report.deleted == ("b",)


def test_where_hosts_write_the_same_path_the_later_one_wins_and_it_is_told(job: Callable[..., Job]) -> None:
    made = job(hosts=3)
    first, second, third = made.start()
    plant(first, {"shared": "1", "own/one": "1"})
    plant(second, {"shared": "2", "own/two": "2"})
    plant(third, {"own": "3"})
    report = made.save()
    assert files_in(made.prefix) == {"shared": "2", "own": "3"}
    assert [str(clash) for clash in report.clashes] == [
        "shared: both algo-1 and algo-2 wrote it; algo-2's was kept",
        "own: both algo-2 and algo-3 wrote it; algo-3's was kept",
    ]


def test_links_sockets_and_uploads_under_way_are_left_out(job: Callable[..., Job]) -> None:
    made = job(was_file="restored")
    (host,) = made.start()
    plant(host, {"a": "1", "b.sagemaker-uploading": "no"})
    (host / "link").symlink_to("/etc/passwd")
    (host / "folder-link").symlink_to("/etc")
    (host / "was_file").unlink()
    (host / "was_file").symlink_to("a")
    listen_at(str(host / "socket")).close()
    report = made.save()
    assert files_in(made.prefix) == {"a": "1", "was_file": "restored"}
    assert sorted(report.notes) == [
        "algo-1: folder-link is a link and was skipped",
        "algo-1: link is a link and was skipped",
        "algo-1: socket is a socket and was skipped",
        "algo-1: was_file is a link and was skipped",
    ]


def test_a_link_to_a_folder_in_the_prefix_is_never_written_through(job: Callable[..., Job], tmp_path: Path) -> None:
    plant(tmp_path / "elsewhere", {"old": "1", "other": "2", "gone": "3"})
    made = job(a="1")
    (made.prefix / "sub").symlink_to(tmp_path / "elsewhere")
    (host,) = made.start()
    assert files_in(host) == {"a": "1", "sub/old": "1", "sub/other": "2", "sub/gone": "3"}
    plant(host, {"sub/old": "changed", "sub/deep/new": "4"})
    (host / "sub" / "gone").unlink()
    report = made.save()
    assert files_in(tmp_path / "elsewhere") == {"old": "1", "other": "2", "gone": "3"}
    assert files_in(made.prefix) == {"a": "1", "sub/old": "changed", "sub/other": "2", "sub/deep/new": "4"}
    assert not (made.prefix / "sub").is_symlink()
    assert report.notes == ("sub was a link at the destination and has been replaced by a folder",)


def test_a_link_to_a_folder_that_nothing_was_done_in_stays(job: Callable[..., Job], tmp_path: Path) -> None:
    plant(tmp_path / "elsewhere", {"old": "1"})
    made = job(a="1")
    (made.prefix / "sub").symlink_to(tmp_path / "elsewhere")
    (host,) = made.start()
    plant(host, {"a": "2"})
    made.save()
    assert (made.prefix / "sub").is_symlink()


def test_a_link_to_a_file_is_replaced_and_what_it_led_to_stays(job: Callable[..., Job], tmp_path: Path) -> None:
    plant(tmp_path / "elsewhere", {"one": "1", "two": "2"})
    made = job(a="1")
    (made.prefix / "changed").symlink_to(tmp_path / "elsewhere" / "one")
    (made.prefix / "gone").symlink_to(tmp_path / "elsewhere" / "two")
    (host,) = made.start()
    plant(host, {"changed": "new"})
    (host / "gone").unlink()
    made.save()
    assert files_in(tmp_path / "elsewhere") == {"one": "1", "two": "2"}
    assert files_in(made.prefix) == {"a": "1", "changed": "new"}


def test_the_prefix_itself_may_be_a_link(job: Callable[..., Job], tmp_path: Path) -> None:
    (tmp_path / "big-disk").mkdir()
    made = job()
    made.prefix.symlink_to(tmp_path / "big-disk")
    (host,) = made.start()
    plant(host, {"a": "1"})
    made.save()
    assert files_in(tmp_path / "big-disk") == {"a": "1"}


def test_a_file_becomes_a_folder_and_a_folder_a_file(job: Callable[..., Job]) -> None:
    made = job(a="1", b__one="1", b__deep__two="2")
    (host,) = made.start()
    (host / "a").unlink()
    shutil.rmtree(host / "b")
    plant(host, {"a/now/deep": "1", "b": "file"})
    report = made.save()
    assert files_in(made.prefix) == {"a/now/deep": "1", "b": "file"}
    assert report.deleted == ("a", "b/deep/two", "b/one")
    assert report.notes == ()


def test_what_is_in_the_way_and_not_ours_stays_and_is_told(job: Callable[..., Job]) -> None:
    made = job(z="1")
    (host,) = made.start()
    plant(host, {"file/below": "1", "folder": "2", "empty": "3"})
    plant(made.prefix, {"file": "the user's", "folder/x": "the user's"})
    (made.prefix / "empty").mkdir()
    report = made.save()
    assert files_in(made.prefix) == {"z": "1", "file": "the user's", "folder/x": "the user's", "empty": "3"}
    assert report.written == ("empty",)
    assert report.notes == (
        "algo-1: file/below was not saved: it conflicts with file at the destination",
        "algo-1: folder was not saved: it conflicts with folder at the destination",
    )


def test_a_full_disk_is_told_and_leaves_nothing_half_written(
    job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = job(a="old", gone="old")
    (host,) = made.start()
    plant(host, {"a": "new", "b": "new"})
    (host / "gone").unlink()

    def full(source: int, copy: int, tick: object) -> None:  # noqa: ARG001 - no disk of a test's own to fill
        os.write(copy, b"ne")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(folder_target_module, "copy_bytes", full)
        with pytest.raises(ArtifactError) as caught:
            made.save()
    assert caught.value.sentence == "Artifact upload failed:Insufficient disk space"
    assert caught.value.details == (str(made.prefix / "a"),)
    assert files_in(made.prefix) == {"a": "old", "gone": "old"}
    made.save()
    assert files_in(made.prefix) == {"a": "new", "b": "new"}


def test_a_prefix_that_became_a_file_is_told(job: Callable[..., Job]) -> None:
    made = job()
    (host,) = made.start()
    plant(host, {"a": "1"})
    made.prefix.write_text("")
    with pytest.raises(ArtifactError, match="Artifact upload failed:File exists"):
        made.save()


def test_what_a_killed_save_has_left_is_replaced(job: Callable[..., Job]) -> None:
    made = job()
    (host,) = made.start()
    plant(host, {"sub/a": "1"})
    plant(made.prefix, {"sub/.0123abcd.sagemaker-uploading": "half"})
    made.save()
    assert files_in(made.prefix) == {"sub/a": "1"}


def test_a_name_as_long_as_names_can_be(job: Callable[..., Job]) -> None:
    made = job()
    (host,) = made.start()
    plant(host, {"n" * 255: "1"})
    made.save()
    assert files_in(made.prefix) == {"n" * 255: "1"}


def test_without_a_record_everything_counts_as_written_and_nothing_is_deleted(job: Callable[..., Job]) -> None:
    made = job(a="1", b="2")
    (host,) = made.start()
    (host / "b").unlink()
    made.restored = [Restored(directory=str(host))]
    report = made.save()
    assert (report.written, report.deleted) == (("a",), ())
    assert files_in(made.prefix) == {"a": "1", "b": "2"}


NAMES = st.sampled_from(["a", "b", "é", "x y"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TREES = st.dictionaries(PATHS, st.text("01", max_size=2), max_size=5).filter(
    lambda tree: not any(other.startswith(f"{path}/") for path in tree for other in tree)
)


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=TREES, then=st.lists(TREES, min_size=1, max_size=3))
def test_the_prefix_becomes_what_the_container_made_of_it(first: Files, then: list[Files], tmp_path: Path) -> None:
    root = tmp_path / "job"
    root.mkdir()
    try:
        made = Job(root)
        plant(made.prefix, first)
        for wanted in then:
            (host,) = made.start()
            become(host, wanted)
            report = made.save()
            assert files_in(made.prefix) == wanted
            assert report.notes == ()
    finally:
        shutil.rmtree(root)


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=TREES, after=st.lists(TREES, min_size=2, max_size=3), extra=st.dictionaries(NAMES, st.text("2"), max_size=2)
)
def test_hosts_together(first: Files, after: list[Files], extra: Files, tmp_path: Path) -> None:
    """Whatever hosts do, each of their own writes counts, a deletion counts unless another wrote, the rest stays."""
    root = tmp_path / "job"
    root.mkdir()
    try:
        made = Job(root, len(after))
        plant(made.prefix, first)
        hosts = made.start()
        meanwhile = {f"user-{name}": content for name, content in extra.items()}
        plant(made.prefix, meanwhile)
        written: dict[str, str] = {}
        deleted: set[str] = set()
        for host, wanted in zip(hosts, after, strict=True):
            become(host, wanted)
            deleted |= first.keys() - wanted.keys()
            for path, content in wanted.items():
                if first.get(path) != content:
                    for other in list(written):  # a file and a folder of one name: the later host's
                        if other.startswith(f"{path}/") or path.startswith(f"{other}/"):
                            del written[other]
                    written[path] = content
        made.save()
        rest = {path: content for path, content in first.items() if path not in deleted}
        assert files_in(made.prefix) == rest | written | meanwhile
    finally:
        shutil.rmtree(root)


def become(folder: Path, wanted: Files) -> None:
    """Change a folder into what is wanted as a program would: only what differs is touched."""
    now = files_in(folder)
    for path in now.keys() - wanted.keys():
        (folder / path).unlink()
    for below in sorted((entry for entry in folder.rglob("*") if entry.is_dir()), reverse=True):
        if not any(below.iterdir()):
            below.rmdir()
    plant(folder, {path: content for path, content in wanted.items() if now.get(path) != content})

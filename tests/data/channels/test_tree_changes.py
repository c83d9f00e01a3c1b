"""A container does to a channel whatever a program may do to a tree. It works, and the user's own tree is unchanged."""

import json
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from smlocal.data.channels.copy import StagedChannel
from smlocal.terms.channels import Staging
from smlocal.terms.listing import Listing

Lister = Callable[..., Listing]
Digest = Callable[[Path], Mapping[str, object]]

# Each line is one operation of a program; what it gives is printed, and so is the whole tree afterwards.
PROGRAM = r"""
import errno, json, mmap, os, shutil, stat

def write(path, text, how="w"):
    with open(path, how) as file:
        file.write(text)

def read(path):
    with open(path) as file:
        return file.read()

def replaced(path):
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:3] = b"ZZZ"
    return read(path)

def cut(path, size):
    os.truncate(path, size)
    return read(path)

def owned(path):
    os.chown(path, 7, 8)
    status = os.stat(path)
    return [status.st_uid, status.st_gid, read(path)]

def moded(path, mode):
    os.chmod(path, mode)
    return [oct(os.stat(path).st_mode & 0o7777), read(path) if os.path.isfile(path) else sorted(os.listdir(path))]

def timed(path):
    os.utime(path, ns=(10**18, 2 * 10**18))
    return [os.stat(path).st_mtime_ns, read(path)]

def marked(path):
    os.setxattr(path, "user.mark", b"v")
    return [os.getxattr(path, "user.mark").decode(), os.listxattr(path)]

def unmarked(path):
    os.removexattr(path, "user.mark")
    return os.listxattr(path)

def linked(path, other):
    os.link(path, other)
    write(other, "+", "a")
    return [read(path), os.path.samefile(path, other), os.stat(path).st_nlink]

def pointed(to, path):
    os.symlink(to, path)
    return [os.readlink(path), read(path)]

def folder_for_file(path):
    os.unlink(path)
    os.mkdir(path)
    write(path + "/x", "x")
    return os.listdir(path)

def file_for_folder(path):
    shutil.rmtree(path)
    write(path, "now a file")
    return read(path)

def made_anew(path):
    shutil.rmtree(path)
    os.mkdir(path)
    return os.listdir(path)

def onto(path, other):
    os.mkdir(other)
    os.rename(path, other)
    return sorted(os.listdir(other))

def exchanged(path, other):
    os.rename(path, path + "-aside")
    os.rename(other, path)
    os.rename(path + "-aside", other)
    return [sorted(os.listdir(path)), sorted(os.listdir(other))]

def appended(path):
    write(path, " more", "a")
    return read(path)

OPERATIONS = [
    ("rename a folder", lambda: (os.rename("a", "b"), sorted(os.listdir("b")))[1]),
    ("rename a folder into another one", lambda: (os.rename("b/deep", "c/deeper"), read("c/deeper/three"))[1]),
    ("rename a folder that was renamed, back", lambda: (os.rename("b", "a"), read("a/one"))[1]),
    ("rename a folder onto an empty one", lambda: onto("d", "empty")),
    ("rename a folder onto one that is not empty", lambda: os.rename("a", "c")),
    ("exchange two folders", lambda: exchanged("left", "right")),
    ("make a folder where one was renamed", lambda: (os.mkdir("d"), os.listdir("d"))[1]),
    ("write in a folder that was renamed", lambda: (write("c/deeper/new", "new"), sorted(os.listdir("c/deeper")))[1]),
    ("rename a file across folders", lambda: (os.rename("a/two", "c/two"), read("c/two"))[1]),
    ("rename a file onto another", lambda: (os.replace("over", "under"), read("under"))[1]),
    ("hard link", lambda: linked("to-link", "c/linked")),
    ("write to one of two hard links", lambda: (write("hard-1", "!", "a"), read("hard-2"))[1]),
    ("symbolic link", lambda: pointed("under", "symbolic")),
    ("rename a symbolic link", lambda: (os.rename("pointer", "c/pointer"), os.readlink("c/pointer"))[1]),
    ("chmod of a file", lambda: moded("chmod", 0o600)),
    ("chmod of a folder", lambda: moded("chmod-folder", 0o711)),
    ("chown", lambda: owned("chown")),
    ("append after chown", lambda: appended("chown")),
    ("truncate to nothing", lambda: cut("emptied", 0)),
    ("truncate to a part", lambda: cut("cut", 3)),
    ("truncate to more", lambda: cut("grown", 8)),
    ("append", lambda: appended("appended")),
    ("mmap", lambda: replaced("mapped")),
    ("utime", lambda: timed("timed")),
    ("xattr of a file", lambda: marked("xattr")),
    ("no xattr of a file", lambda: unmarked("xattr")),
    ("xattr of a folder", lambda: marked("xattr-folder")),
    ("a folder for a file", lambda: folder_for_file("becomes-folder")),
    ("a file for a folder", lambda: file_for_folder("becomes-file")),
    ("a folder for itself", lambda: made_anew("made-anew")),
    ("rmdir -r", lambda: (shutil.rmtree("gone"), os.path.lexists("gone"))[1]),
    ("move a folder out", lambda: (shutil.move("moved-out", "/tmp/moved-out"), read("/tmp/moved-out/x"))[1]),
    ("move it back", lambda: (shutil.move("/tmp/moved-out", "back"), read("back/x"))[1]),
]

def attempt(operation):
    try:
        return operation()
    except OSError as error:
        return errno.errorcode[error.errno]

os.umask(0o022)
results = {name: attempt(operation) for name, operation in OPERATIONS}
tree = {}
for folder, folders, files in os.walk("."):
    for name in folders:
        path = os.path.join(folder, name)
        tree[path[2:] + "/"] = oct(os.stat(path).st_mode & 0o7777)
    for name in files:
        path = os.path.join(folder, name)
        tree[path[2:]] = "-> " + os.readlink(path) if os.path.islink(path) else read(path)
print(json.dumps([results, tree]))
"""

FILES = (
    *("a/one", "a/two", "a/deep/three", "c/kept", "d/in-d", "left/l", "right/r", "over", "under", "to-link", "hard-1"),
    *("chmod", "chmod-folder/x", "chown", "emptied", "cut", "grown", "appended", "mapped", "timed", "xattr"),
    *("xattr-folder/x", "becomes-folder", "becomes-file/x", "made-anew/x", "gone/deep/x", "moved-out/x"),
)
RESULTS = {
    "rename a folder": ["deep", "one", "two"],
    "rename a folder into another one": "a/deep/three",
    "rename a folder that was renamed, back": "a/one",
    "rename a folder onto an empty one": ["in-d"],
    "rename a folder onto one that is not empty": "ENOTEMPTY",
    "exchange two folders": [["r"], ["l"]],
    "make a folder where one was renamed": [],
    "write in a folder that was renamed": ["new", "three"],
    "rename a file across folders": "a/two",
    "rename a file onto another": "over",
    "hard link": ["to-link+", True, 2],
    "write to one of two hard links": "hard-1",
    "symbolic link": ["under", "over"],
    "rename a symbolic link": "under",
    "chmod of a file": ["0o600", "chmod"],
    "chmod of a folder": ["0o711", ["x"]],
    "chown": [7, 8, "chown"],
    "append after chown": "chown more",
    "truncate to nothing": "",
    "truncate to a part": "cut",
    "truncate to more": "grown\0\0\0",
    "append": "appended more",
    "mmap": "ZZZped",
    "utime": [2 * 10**18, "timed"],
    "xattr of a file": ["v", ["user.mark"]],
    "no xattr of a file": [],
    "xattr of a folder": ["v", ["user.mark"]],
    "a folder for a file": ["x"],
    "a file for a folder": "now a file",
    "a folder for itself": [],
    "rmdir -r": False,
    "move a folder out": "moved-out/x",
    "move it back": "moved-out/x",
}
_FOLDERS = ("a", "back", "becomes-folder", "c", "c/deeper", "d", "empty", "left", "made-anew", "right", "xattr-folder")
TREE = {
    **{f"{folder}/": "0o755" for folder in _FOLDERS},
    "chmod-folder/": "0o711",
    "a/one": "a/one",
    "appended": "appended more",
    "back/x": "moved-out/x",
    "becomes-file": "now a file",
    "becomes-folder/x": "x",
    "c/deeper/new": "new",
    "c/deeper/three": "a/deep/three",
    "c/kept": "c/kept",
    "c/linked": "to-link+",
    "c/two": "a/two",
    "chmod": "chmod",
    "chmod-folder/x": "chmod-folder/x",
    "chown": "chown more",
    "cut": "cut",
    "emptied": "",
    "empty/in-d": "d/in-d",
    "grown": "grown\0\0\0",
    "hard-1": "hard-1!",
    "hard-2": "hard-1",
    "left/r": "right/r",
    "mapped": "ZZZped",
    "right/l": "left/l",
    "symbolic": "-> under",
    "timed": "timed",
    "to-link": "to-link+",
    "under": "over",
    "xattr": "xattr",
    "xattr-folder/x": "xattr-folder/x",
}


class Host(Protocol):
    def stage(
        self, listing: Listing, staging: Staging = "overlay", name: str = "train", *, rootless: bool | None = None
    ) -> StagedChannel: ...

    def run(self, staged: StagedChannel, script: str) -> str: ...


@pytest.fixture
def python_host(host: Any, image: Callable[[str], str]) -> Host:
    return replace(host, image=image("py"))  # type: ignore[no-any-return]  # a dataclass behind its protocol


def make_tree(folder: Path) -> Path:
    for name in FILES:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name, encoding="utf-8")
        file.chmod(0o644)
    os.link(folder / "hard-1", folder / "hard-2")
    (folder / "pointer").symlink_to("under")
    for path in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        path.chmod(0o755)
    return folder


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("staging", ["overlay", "copy"])
@pytest.mark.parametrize("whole", [True, False], ids=["a folder", "a selection"])
def test_it_is_a_plain_tree(
    python_host: Host, listing_of: Lister, digest: Digest, tmp_path: Path, staging: Staging, whole: bool
) -> None:
    data = make_tree(tmp_path / "data")
    before = digest(data)
    listing = listing_of("data")
    # Selected files arrive as regular files, and so do copied ones: S3 has no links.
    results, tree = json.loads(
        python_host.run(
            python_host.stage(listing if whole else replace(listing, whole_tree=False), staging),
            f"exec python3 -c {shlex.quote(PROGRAM)}",
        )
    )
    links = whole and staging == "overlay"
    assert results == {**RESULTS, "rename a symbolic link": "under" if links else "EINVAL"}
    assert tree == {**TREE, "c/pointer": "-> under" if links else "under"}
    assert digest(data) == before


def test_chown_copies_no_data(python_host: Host, listing_of: Lister, tmp_path: Path) -> None:
    """An entry point that gives the channel to another user must not wait for a copy of the data."""
    if not Path("/sys/module/overlay/parameters/metacopy").exists():
        pytest.skip("this kernel copies a file to change its owner")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "large").write_bytes(os.urandom(64 << 20))
    staged = python_host.stage(listing_of("data"))
    assert staged.upper is not None
    large = Path(staged.upper, "large")
    said = python_host.run(staged, "chown 7:8 large; sync; stat -c %u:%g:%s large")
    assert said.strip() == f"7:8:{64 << 20}"
    if os.access(staged.upper, os.R_OK | os.X_OK):  # else only root may look
        assert large.stat().st_blocks * 512 < 1 << 20

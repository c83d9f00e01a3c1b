"""A bucket as a folder: its objects are the files below it. Links in it are never followed."""

import errno
import fcntl
import os
import re
import stat as modes
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from smlocal.base.alike_names import entries_ignore_case, is_spelled
from smlocal.base.files import FILE, FOLDER, descend, remove_tree
from smlocal.endpoint.objects.object_files import AttributeFiles, Attributes, IncomingFile, remove_abandoned
from smlocal.endpoint.objects.s3_documents import S3CallError, no_such_bucket, no_such_key, not_emulated

# Names of buckets and keys of objects, as names of folders and files.

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
MOST_KEY = 1024
"""Bytes."""
_MOST_NAME = 255
"""Bytes of one name on Linux's file systems."""


def is_bucket_name(name: str) -> bool:
    """True for what a bucket may be called; such a name is one folder, and not a hidden one."""
    return _BUCKET.fullmatch(name) is not None and ".." not in name


def check_bucket_name(name: str) -> None:
    """`S3CallError` for a name that no bucket may have."""
    if not is_bucket_name(name):
        raise S3CallError("InvalidBucketName", "The specified bucket is not valid.", BucketName=name)


def file_of(key: str) -> tuple[list[str], str]:
    """The folders and the name of the file for a key. The name is empty for a folder marker such as `a/`.

    `S3CallError` with NoSuchKey for a key that cannot be a file: there is no such object.
    """
    if why_no_file(key) is not None:
        raise no_such_key(key)
    *folders, name = key.split("/")
    return folders, name


def check_new_key(key: str) -> None:
    """`S3CallError` that says why no object can be put under this key."""
    if len(key.encode()) > MOST_KEY:
        raise S3CallError("KeyTooLongError", "Your key is too long")
    why = why_no_file(key)
    if why is not None:
        raise not_emulated(f"keys {why}: objects are files here")


def why_no_file(key: str) -> str | None:
    """Why a key cannot be the path of a file; None if it can."""
    parts = key.split("/")
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()  # a folder marker
    if "" in parts:
        return "that begin with '/' or have '//'"
    if not {".", ".."}.isdisjoint(parts):
        return "with '.' or '..' between slashes"
    if "\0" in key:
        return "with a null character"
    if any(len(part.encode()) > _MOST_NAME for part in parts):
        return f"with more than {_MOST_NAME} bytes between slashes"
    return None


PRIVATE = ".smlocal"
"""The folder beside the buckets with files that are not objects. No bucket may have this name."""
_OPEN_AT_ONCE = 32
"""How many folders are open while empty ones are removed: a key may have 512."""

_DISKS: dict[tuple[str, int], bool] = {}
"""Whether it ignores case, by the folder of a bucket and its device."""

Condition = Callable[[Attributes | None], None]
"""Raises `S3CallError` for an object whose present attributes, None if there is no such object, forbid the change."""


def bucket_path(root: str, name: str) -> str | None:
    """The folder of a bucket; None if there is none."""
    path = os.path.join(root, name)
    return path if is_bucket_name(name) and os.path.isdir(path) else None


def bucket_names(root: str) -> list[str]:
    """All buckets, in order."""
    try:
        names = os.listdir(root)
    except FileNotFoundError:
        return []
    return sorted(name for name in names if bucket_path(root, name))


class Bucket:
    """The objects of one bucket, and their records."""

    def __init__(self, root: str, name: str) -> None:
        """`root` is the folder with the folders of all buckets. `S3CallError` if there is no such bucket."""
        path = bucket_path(root, name)
        if path is None:
            raise no_such_bucket(name)
        self._root = root
        self.name = name
        self.path = path
        self.private = os.path.join(root, PRIVATE, name)
        self._spelling = _ignores_case(path)
        """Whether names have to be compared with those on the disk, which ignores case."""
        self.attributes = AttributeFiles(os.path.join(self.private, "objects"))

    def open(self, key: str) -> int:
        """The open file of an object; `S3CallError` if there is none."""
        folders, name = file_of(key)
        try:
            with self.folder(folders) as folder:
                self._check_spelling(name, folder)
                descriptor = os.open(name or ".", FILE, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            raise no_such_key(key) from None
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENXIO}:  # a link; a socket
                raise S3CallError(
                    "AccessDenied", "smlocal reads only regular files: this is a link or a socket."
                ) from None
            raise
        state = os.fstat(descriptor)
        marker = not name and self.is_marker(key, state)
        if not marker and not (name and modes.S_ISREG(state.st_mode)):
            os.close(descriptor)
            raise no_such_key(key)
        return descriptor

    def state(self, key: str, descriptor: int) -> os.stat_result:
        """Size and time of an open object. A folder marker has no bytes."""
        state = os.fstat(descriptor)
        return marker_state(state) if key.endswith("/") else state

    def put(self, key: str, new: IncomingFile, attributes: Attributes, condition: Condition | None = None) -> None:
        """Give a complete file the name of the key. A reader of the object that it replaces reads that to its end."""
        check_new_key(key)
        folders, name = file_of(key)
        with self._lock():
            self._check(key, condition)
            try:
                with self.folder(folders, create=True) as folder:
                    if not name:
                        self._put_marker(key, new, folder, attributes)
                        return
                    self._remove_empty(folders, name)  # an empty folder is not an object
                    if _exists(name, folder):
                        self._check_spelling(name, folder)
                    self.attributes.write(key, new.state(), attributes)
                    new.rename(name, folder)
            except FileNotFoundError:
                if not self._spelling:
                    raise
                raise not_emulated(
                    f"keys that differ from another's only in case or accents, on a disk that ignores that: '{key}'"
                ) from None
            except (NotADirectoryError, IsADirectoryError):
                raise not_emulated(
                    "objects whose keys are a file and a folder at once: "
                    f"where '{key}' would be a file, there is a folder, a link, or another object"
                ) from None

    def remove(self, key: str, condition: Condition | None = None) -> None:
        """Remove an object. A missing object is not an error."""
        try:
            folders, name = file_of(key)
        except S3CallError:
            return
        with self._lock():
            self._check(key, condition)
            try:
                with self.folder(folders) as folder:
                    if name:
                        self._check_spelling(name, folder)
                        os.unlink(name, dir_fd=folder)
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
                if isinstance(error, PermissionError) and error.errno != errno.EPERM:
                    raise
            self.attributes.remove(key)
            self._remove_empty_folders(folders)

    def delete(self) -> None:
        """Remove the bucket; `S3CallError` if it has objects."""
        with self._lock():
            if self._has_objects():
                raise S3CallError("BucketNotEmpty", "The bucket you tried to delete is not empty", BucketName=self.name)
            for parent, folders, _ in os.walk(self.path, topdown=False):
                for folder in folders:
                    os.rmdir(os.path.join(parent, folder))
            os.rmdir(self.path)
        remove_tree(self.private)

    def is_marker(self, key: str, state: os.stat_result) -> bool:
        """True if a folder was put as an object: `a/`."""
        return self.attributes.recorded(key, marker_state(state)) is not None

    @contextmanager
    def folder(self, parts: Sequence[str], *, create: bool = False) -> Iterator[int]:
        """The open folder below the bucket's own; `NotADirectoryError` where a link or a file stands in the way.

        `FileNotFoundError` too where the disk has another spelling of a name.
        """
        # The bucket's own folder may be a link, because its owner made it.
        top = os.open(self.path, FOLDER & ~os.O_NOFOLLOW)
        try:
            if self._spelling:
                self._check_folders(parts, top)
            descriptor = descend(top, [os.fsencode(part) for part in parts], create=create)
        finally:
            os.close(top)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _check_spelling(self, name: str, folder: int) -> None:
        """`FileNotFoundError` if the disk finds an entry by this name that has another one."""
        if self._spelling and name and not is_spelled(name, folder, self._root):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)

    def _check_folders(self, parts: Sequence[str], top: int) -> None:
        descriptor = os.dup(top)
        try:
            for part in parts:
                if not _exists(part, descriptor):
                    return
                self._check_spelling(part, descriptor)
                above, descriptor = descriptor, os.open(part, FOLDER, dir_fd=descriptor)
                os.close(above)
        finally:
            os.close(descriptor)

    def new_file(self) -> IncomingFile:
        """A file outside the bucket's folder, to be filled and put."""
        return IncomingFile(_partial(self._root, self.name))

    def _put_marker(self, key: str, new: IncomingFile, folder: int, attributes: Attributes) -> None:
        if new.state().st_size:
            raise not_emulated("keys that end with '/' and have bytes: they are folders here")
        self.attributes.write(key, marker_state(os.fstat(folder)), attributes)

    def _check(self, key: str, condition: Condition | None) -> None:
        if condition is None:
            return
        try:
            descriptor = self.open(key)
        except S3CallError:
            condition(None)
            return
        try:
            condition(self.attributes.read(key, self.state(key, descriptor)))
        finally:
            os.close(descriptor)

    def _remove_empty(self, folders: Sequence[str], name: str) -> bool:
        """Remove a folder that holds nothing and is not an object; False if it stays."""
        try:
            with self.folder(folders) as parent:
                return self._remove_empty_in(parent, "/".join([*folders, name, ""]))
        except OSError:
            return False

    def _remove_empty_in(self, parent: int, key: str) -> bool:
        name = key.split("/")[-2]
        try:
            if self.is_marker(key, os.stat(name, dir_fd=parent, follow_symlinks=False)):
                return False
            os.rmdir(name, dir_fd=parent)
        except OSError:
            return False
        return True

    def _remove_empty_folders(self, folders: list[str]) -> None:
        """Remove the last of these folders, then its parent, while they hold nothing."""
        while folders:
            last = folders[-_OPEN_AT_ONCE:]
            above = folders[: -len(last)]
            with suppress(OSError), ExitStack() as opened:
                parents = [opened.enter_context(self.folder(above))]
                for name in last[:-1]:
                    parents.append(os.open(name, FOLDER, dir_fd=parents[-1]))
                    opened.callback(os.close, parents[-1])
                for parent in reversed(parents):
                    if not self._remove_empty_in(parent, "/".join([*folders, ""])):
                        return
                    folders.pop()
                continue
            return

    def _has_objects(self) -> bool:
        for parent, folders, files in os.walk(self.path):
            if len(parent) - len(self.path) > MOST_KEY:
                return True  # of another program: no key leads there
            paths = [os.path.join(parent, folder) for folder in folders]
            keys = [os.path.relpath(path, self.path) + "/" for path in paths]
            if (
                files
                or any(map(os.path.islink, paths))
                or any(self.is_marker(key, os.lstat(path)) for key, path in zip(keys, paths, strict=True))
            ):
                return True
        return False

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Held while names change, by all servers with these buckets."""
        os.makedirs(self.private, exist_ok=True)
        _hide_from_git(os.path.join(self._root, PRIVATE, ".gitignore"))
        with open(os.path.join(self.private, "lock"), "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _ignores_case(path: str) -> bool:
    """An empty bucket tells nothing, and has no name to differ from."""
    disk = path, os.stat(path).st_dev
    if disk not in _DISKS and (known := entries_ignore_case(path)) is not None:
        _DISKS[disk] = known
    return _DISKS.get(disk, False)


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _hide_from_git(path: str) -> None:
    """Make git ignore our folder."""
    if not os.path.exists(path):
        with suppress(OSError), open(path, "x", encoding="utf-8") as file:  # another server may write it too
            file.write("*\n")


def remove_unfinished(root: str) -> None:
    """Remove what killed servers were still receiving. Parts of uploads stay: clients can go on with them."""
    for name in bucket_names(root):
        remove_abandoned(_partial(root, name))


def create_bucket(root: str, name: str) -> None:
    """Make the folder of a bucket; `FileExistsError` if there is one."""
    os.makedirs(root, exist_ok=True)
    os.mkdir(os.path.join(root, name))


def _partial(root: str, name: str) -> str:
    return os.path.join(root, PRIVATE, name, "partial")


def marker_state(state: os.stat_result) -> os.stat_result:
    """The state of a folder as if it were an empty file: new files in it must not change its record."""
    return os.stat_result((state.st_mode, state.st_ino, state.st_dev, 1, state.st_uid, state.st_gid, 0, 0, 0, 0))

"""As whom an image runs, by numbers, as the engine finds out."""

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.image_files import Entry
from smlocal.check.subject import Subject
from smlocal.quick_dataclass import dataclass

_PASSWD, _GROUP = "/etc/passwd", "/etc/group"


class UnknownUserError(CannotLookError):
    """The image names a user or group that it does not have: no container of it starts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A user of a container."""

    uid: int
    groups: frozenset[int]

    @property
    def is_root(self) -> bool:
        """Whether permissions do not matter."""
        return self.uid == 0

    def may_execute(self, entry: Entry) -> bool:
        """Whether the kernel starts this file for them."""
        if self.is_root:
            return bool(entry.mode & 0o111)
        if entry.uid == self.uid:
            return bool(entry.mode & 0o100)
        return bool(entry.mode & (0o010 if entry.gid in self.groups else 0o001))


def user_of(subject: Subject) -> User:
    """Who the first process is: `USER name`, `USER 1000:1000`, or nothing, which is root."""
    name, _, group = subject.facts.user.partition(":")
    if not name:
        return User(uid=0, groups=frozenset({0}))
    uid, gid = _of_passwd(subject, name)
    if group:
        gid = _gid(subject, group)
    return User(uid=uid, groups=frozenset({gid} | (_more_groups(subject, name) if not group else set())))


def _of_passwd(subject: Subject, name: str) -> tuple[int, int]:
    for fields in _lines(subject, _PASSWD):
        if len(fields) > 3 and name in {fields[0], fields[2]} and fields[2].isdecimal() and fields[3].isdecimal():  # noqa: PLR2004 - name, x, uid, gid
            return int(fields[2]), int(fields[3])
    if name.isdecimal():
        return int(name), 0
    raise UnknownUserError(f"USER {name} is not in /etc/passwd of the image")


def _gid(subject: Subject, group: str) -> int:
    if group.isdecimal():
        return int(group)
    for fields in _lines(subject, _GROUP):
        if len(fields) > 2 and fields[0] == group and fields[2].isdecimal():  # noqa: PLR2004 - name, x, gid
            return int(fields[2])
    raise UnknownUserError(f"the group {group} of USER is not in /etc/group of the image")


def _more_groups(subject: Subject, name: str) -> set[int]:
    return {
        int(fields[2])
        for fields in _lines(subject, _GROUP)
        if len(fields) > 3 and fields[2].isdecimal() and name in fields[3].split(",")  # noqa: PLR2004 - name, x, gid, members
    }


def _lines(subject: Subject, path: str) -> list[list[str]]:
    content = subject.files.content(path) or b""
    return [line.split(":") for line in content.decode(errors="replace").splitlines()]

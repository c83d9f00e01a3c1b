"""The programs that the service starts in a container, and where the image has them."""

import posixpath
from collections.abc import Iterator

from smlocal.check.image_files import Found
from smlocal.check.subject import Subject
from smlocal.check.user import User, user_of
from smlocal.planning.entrypoint import init_program
from smlocal.quick_dataclass import dataclass

_INIT_OPTIONS_WITH_VALUE = {"-p", "-e", "-r", "--rewrite"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """One program, as it is named and as it was found."""

    word: str
    """`train`, `/entrypoint.sh`"""
    starter: str
    """What starts it: empty for the engine, else an init program."""
    found: Found | None
    """What would be started, whether it may be or not; None where there is nothing of that name."""
    may_run: bool
    """Whether the image's user may execute it."""

    @property
    def is_train(self) -> bool:
        """Whether it is the argument of the service that serves as a command."""
        return self.word == "train"


def words_of(subject: Subject) -> tuple[str, ...]:
    """The whole command of the first process."""
    return (*subject.entrypoint, *subject.arguments)


def programs(subject: Subject) -> Iterator[Program]:
    """The first process, and what an init program starts in its place."""
    words, starter = words_of(subject), ""
    while words:
        user = user_of(subject)
        found = find_program(subject, words[0], user)
        yield Program(
            word=words[0],
            starter=starter,
            found=found,
            may_run=found is not None and found.entry.kind == "file" and user.may_execute(found.entry),
        )
        if init_program(words) is None:
            return
        starter, words = posixpath.basename(words[0]), _after_init(words)


def find_program(subject: Subject, word: str, user: User) -> Found | None:
    """What the engine would execute; of a name, the first on the image's own PATH that may be, else any that is."""
    if "/" in word:
        folder = subject.facts.working_directory or "/"
        return subject.files.find(posixpath.join("/", folder, word))
    other = None
    for folder in subject.search_path:
        found = subject.files.find(posixpath.join("/", folder, word))
        if found is None or found.entry.kind != "file":
            continue
        if user.may_execute(found.entry):
            return found
        other = other or found
    return other


def has_program(subject: Subject, word: str) -> bool:
    """Whether the image's user can start this program."""
    user = user_of(subject)
    found = find_program(subject, word, user)
    return found is not None and found.entry.kind == "file" and user.may_execute(found.entry)


def _after_init(words: tuple[str, ...]) -> tuple[str, ...]:
    """Without the init program and its own options."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "--":
            break
        if option in _INIT_OPTIONS_WITH_VALUE and rest:
            del rest[0]
    return tuple(rest)

"""The programs that the service starts in a container, and where the image has them."""

import posixpath
from collections.abc import Iterator

from smlocal.check.image_files import Found
from smlocal.check.interpreter import script_argument
from smlocal.check.program_files import Script, read_program
from smlocal.check.shell_script import hands_over
from smlocal.check.subject import Subject
from smlocal.check.user import User, user_of
from smlocal.platforms.sagemaker.planning.entrypoint import init_program, is_shell
from smlocal.quick_dataclass import dataclass

_INIT_OPTIONS_WITH_VALUE = {"-p", "-e", "-r", "--rewrite"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """One program, as it is named and as it was found."""

    word: str
    """`train`, `/entrypoint.sh`"""
    starter: str
    """What starts it: empty for the engine, else an init program, or a script with `exec "$@"`."""
    arguments: tuple[str, ...]
    """That it is given."""
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
    """The first process, and what it starts in its place: an init program, and a wrapper that execs its arguments."""
    words, starter = words_of(subject), ""
    while words:
        program = program_of(subject, words, starter=starter)
        yield program
        starter, words = posixpath.basename(words[0]), _next(subject, words, program.found)


def program_of(subject: Subject, words: tuple[str, ...], *, starter: str) -> Program:
    """The program that these words start."""
    user = user_of(subject)
    found = find_program(subject, words[0], user)
    return Program(
        word=words[0],
        starter=starter,
        arguments=words[1:],
        found=found,
        may_run=found is not None and found.entry.kind == "file" and user.may_execute(found.entry),
    )


def find_program(subject: Subject, word: str, user: User) -> Found | None:
    """What the engine would execute; of a name, the first on the image's own PATH that may be, else any that is."""
    if "/" in word:
        return subject.files.find(posixpath.join("/", subject.facts.working_directory or "/", word))
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


def script_of(subject: Subject, program: Program) -> tuple[str, str] | None:
    """Path and text of the shell script that a program is, or that it is given as a shell's first argument."""
    if program.found is None or not program.may_run:
        return None
    text = _shell_text(subject, program.found.path)
    if text is not None:
        return program.found.path, text
    word = script_word(program) if is_shell(program.word) else None
    found = find_script(subject, program, word) if word else None
    return None if found is None else (found.path, (subject.files.content(found.path) or b"").decode(errors="replace"))


def script_word(program: Program) -> str | None:
    """What an interpreter is given as its script, as it is written; None for other programs and other ways."""
    return script_argument(posixpath.basename(program.word), program.arguments)


def find_script(subject: Subject, program: Program, word: str) -> Found | None:
    """Where the interpreter looks for it: a shell looks for a bare name on the PATH, too."""
    found = subject.files.find(absolute(subject, word))
    if found is None and "/" not in word and is_shell(program.word):
        return find_program(subject, word, User(uid=0, groups=frozenset()))
    return found


def absolute(subject: Subject, word: str) -> str:
    """A path as the first process sees it."""
    return posixpath.normpath(posixpath.join("/", subject.facts.working_directory or "/", word))


def _next(subject: Subject, words: tuple[str, ...], found: Found | None) -> tuple[str, ...]:
    """What the program hands its place over to."""
    if init_program(words) is not None:
        return _after_init(words)
    text = None if found is None else _shell_text(subject, found.path)
    return words[1:] if text is not None and hands_over(text, words[1:]) else ()


def _shell_text(subject: Subject, path: str) -> str | None:
    content = subject.files.content(path) or b""
    read = read_program(content)
    return content.decode(errors="replace") if isinstance(read, Script) and read.is_shell else None


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

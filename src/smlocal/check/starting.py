"""The programs that the service starts in a container: where the image has them, as whom they run, what they need."""

import json
import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence

from smlocal.base.quick_dataclass import dataclass
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.image_files import FoundFile, ImageEntry, ImageFiles
from smlocal.check.interface import Finding
from smlocal.check.program_files import Script, hands_over, read_program, script_argument
from smlocal.check.subject import Subject
from smlocal.jobs.planning.aspects.image.plan import init_program, is_shell, is_shell_form

_INIT_OPTIONS_WITH_VALUE = {"-p", "-e", "-r", "--rewrite"}


@dataclass(frozen=True, kw_only=True, slots=True)
class StartedProgram:
    """One program, as it is named and as it was found."""

    word: str
    """`train`, `/entrypoint.sh`"""
    starter: str
    """The program that starts it: empty for the engine, else an init program, or a script with `exec "$@"`."""
    arguments: tuple[str, ...]
    """That it is given."""
    found: FoundFile | None
    """The file that would be started, whether it may be or not; None where there is nothing of that name."""
    may_run: bool
    """Whether the image's user may execute it."""

    @property
    def is_train(self) -> bool:
        """Whether it is the argument of the service that serves as a command."""
        return self.word == "train"


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A user of a container."""

    uid: int
    groups: frozenset[int]

    @property
    def is_root(self) -> bool:
        """Whether permissions do not matter."""
        return self.uid == 0

    def may_execute(self, entry: ImageEntry) -> bool:
        """Whether the kernel starts this file for them."""
        if self.is_root:
            return bool(entry.mode & 0o111)
        if entry.uid == self.uid:
            return bool(entry.mode & 0o100)
        return bool(entry.mode & (0o010 if entry.gid in self.groups else 0o001))


def words_of(subject: Subject) -> tuple[str, ...]:
    """The whole command of the first process."""
    return (*subject.entrypoint, *subject.arguments)


def programs(subject: Subject) -> Iterator[StartedProgram]:
    """The first process, and the program that takes its place: after an init program, or a wrapper that execs."""
    words, starter = words_of(subject), ""
    while words:
        program = program_of(subject, words, starter=starter)
        yield program
        starter, words = posixpath.basename(words[0]), _next(subject, words, program.found)


def program_of(subject: Subject, words: tuple[str, ...], *, starter: str) -> StartedProgram:
    """The program that these words start."""
    user = user_of(subject)
    found = find_program(subject, words[0], user)
    return StartedProgram(
        word=words[0],
        starter=starter,
        arguments=words[1:],
        found=found,
        may_run=found is not None and found.entry.kind == "file" and user.may_execute(found.entry),
    )


def find_program(subject: Subject, word: str, user: User) -> FoundFile | None:
    """The file that the engine would execute; for a name, the first executable one on the PATH, else any there."""
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


def script_of(subject: Subject, program: StartedProgram) -> tuple[str, str] | None:
    """Path and text of the shell script that a program is, or that it is given as a shell's first argument."""
    if program.found is None or not program.may_run:
        return None
    text = _shell_text(subject, program.found.path)
    if text is not None:
        return program.found.path, text
    word = script_word(program) if is_shell(program.word) else None
    found = find_script(subject, program, word) if word else None
    return None if found is None else (found.path, (subject.files.content(found.path) or b"").decode(errors="replace"))


def script_word(program: StartedProgram) -> str | None:
    """The script given to an interpreter, as it is written; None for other programs and other ways."""
    return script_argument(posixpath.basename(program.word), program.arguments)


def find_script(subject: Subject, program: StartedProgram, word: str) -> FoundFile | None:
    """Where the interpreter looks for it: a shell looks for a bare name on the PATH, too."""
    found = subject.files.find(absolute(subject, word))
    if found is None and "/" not in word and is_shell(program.word):
        return find_program(subject, word, User(uid=0, groups=frozenset()))
    return found


def absolute(subject: Subject, word: str) -> str:
    """A path as the first process sees it."""
    return posixpath.normpath(posixpath.join("/", subject.facts.working_directory or "/", word))


def _next(subject: Subject, words: tuple[str, ...], found: FoundFile | None) -> tuple[str, ...]:
    """The program that replaces this one."""
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


_PASSWD, _GROUP = "/etc/passwd", "/etc/group"


class UnknownUserError(CannotLookError):
    """The image names a user or group that it does not have: no container of it starts."""


def user_of(subject: Subject) -> User:
    """The user of the first process: `USER name`, `USER 1000:1000`, or nothing, which is root."""
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


def not_executable(subject: Subject) -> Iterator[Finding]:
    """A finding for each program that is there and may not be executed."""
    for program in programs(subject):
        found = program.found
        if found is None or found.entry.kind != "file" or program.may_run:
            continue
        who = f" by USER {subject.facts.user}" if found.entry.is_executable else ""
        words = f'exec: "{program.word}": '
        words += "permission denied" if "/" in program.word else "executable file not found in $PATH"
        if program.starter == "tini":
            words = f"[FATAL tini (7)] exec {program.word} failed: Permission denied"
        brief = f"{found.path} is not executable{who} (mode {found.entry.mode:04o})"
        yield Finding(message=f"{brief}: {words}", brief=brief, path=found.path, layer=found.entry.layer)


_SITE = re.compile(r"(?:^|/)(?:site-packages|dist-packages)$")
_PYTHON = re.compile(r"/python(3\.\d+)/")
TOOLKITS = ("sagemaker_training", "sagemaker_containers")
"""The training toolkit, and its earlier name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """One package at one place."""

    name: str
    folder: str
    """Absolute: where it is installed."""
    layer: int | None

    @property
    def python(self) -> str:
        """The Python that the folder belongs to, such as `3.11`; empty where the path does not say."""
        found = _PYTHON.search(f"{self.folder}/")
        return found[1] if found else ""


def packages(files: ImageFiles, *names: str) -> Iterator[Package]:
    """Where packages of these import names are installed."""
    for folder, entries in files.folders.items():
        if _SITE.search(folder):
            for name in names:
                entry = entries.get(name) or entries.get(f"{name}.py")
                if entry is not None:
                    yield Package(name=name, folder=f"/{folder}", layer=entry.layer)


def has_toolkit(files: ImageFiles) -> bool:
    """Whether the training toolkit is there."""
    return next(packages(files, *TOOLKITS), None) is not None


def missing(
    subject: Subject, launcher: str, *, programs: Sequence[str | tuple[str, ...]] = (), modules: Sequence[str] = ()
) -> Iterator[Finding]:
    """A finding for each program and Python package; of several programs in brackets one is enough."""
    for each in programs:
        names = (each,) if isinstance(each, str) else each
        if not any(has_program(subject, name) for name in names):
            where = "" if names[0].startswith("/") else " on the PATH"
            yield Finding(
                message=f"the image has no {' or '.join(names)}{where}, which {launcher} starts",
                path=names[0] if names[0].startswith("/") else "",
            )
    for name in modules:
        if next(packages(subject.files, name), None) is None:
            yield Finding(message=f"the image has no Python package {name}, which {launcher} imports")


_PLAIN = re.compile(r"[^$`;&|<>(){}*?\[\]~#!\\\n]*")
"""A line that means the same without a shell."""
_INTERPRETER = re.compile(r"(?:python|pypy|node|R|Rscript|julia|perl|ruby|java|irb|jshell)[\d.]*")


def replaced_command(subject: Subject) -> tuple[str, ...]:
    """ENTRYPOINT and CMD together, where the CMD is more than the shell or interpreter that base images have there."""
    command = subject.facts.command or ()
    if not command or subject.is_entrypoint_of_job or subject.arguments != ("train",):
        return ()
    entrypoint = subject.facts.entrypoint or ()
    if len(command) == 1:
        name = posixpath.basename(command[0])
        if is_shell(name) or _INTERPRETER.fullmatch(name):
            return ()
    return (*entrypoint, *_without_shell(command))


def as_entrypoint(words: tuple[str, ...]) -> str:
    """The remedy."""
    return f"Make it the ENTRYPOINT: ENTRYPOINT {json.dumps(list(words), ensure_ascii=False)}"


def _without_shell(command: tuple[str, ...]) -> tuple[str, ...]:
    """A CMD that is not a JSON list runs in a shell, which would not pass SIGTERM on."""
    if is_shell_form(command) and _PLAIN.fullmatch(command[-1]):
        try:
            return tuple(shlex.split(command[-1])) or command
        except ValueError:
            return command
    return command

"""The rules' findings about the program of a job that failed: its container is still there, and nothing else is read.

The supervisor of a job asks for it by the name of this module (docs/architecture.md), and only after a failure.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing

from smlocal.base.foreign_archive.stream import ArchiveError, ByteStream
from smlocal.base.foreign_archive.tar_entries import tar_entries
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.examine import examine
from smlocal.check.image_files import PROGRAMS, SCRIPTS, ImageEntry, ImageFiles
from smlocal.check.interface import Finding, Rule, RuleResult
from smlocal.check.rules import entrypoint, program
from smlocal.check.subject import Subject
from smlocal.errors import EngineError, SmlocalError
from smlocal.jobs.planning.aspects.image.plan import MODEL_TRAINER_STOP, is_model_trainer
from smlocal.jobs.planning.model import JobPlan

_RULES = (
    program.TRAIN_MISSING,
    program.TRAIN_NOT_EXECUTABLE,
    program.TRAIN_LINE_ENDINGS,
    program.TRAIN_INTERPRETER,
    program.TRAIN_FORMAT,
    entrypoint.ENTRYPOINT_SCRIPT,
)
"""Those about the program that is started, in the order in which they explain."""
_RULES_OF_SIGNALS = (entrypoint.ENTRYPOINT_SHELL_FORM, entrypoint.ENTRYPOINT_WITHOUT_EXEC)
"""Those about a shell that does not pass SIGTERM on."""
Archive = Callable[[str], Generator[bytes, None, None]]


def program_hint(plan: JobPlan, archive: Archive) -> str | None:
    """The problem and its remedy; None if no rule finds anything. `archive`: of a path in the container."""
    return _first(_RULES, plan, archive)


def signal_hint(plan: JobPlan, archive: Archive) -> str | None:
    """Why SIGTERM does not reach it; None if no rule knows."""
    if is_model_trainer((*(plan.image.entrypoint or ()), *(plan.image.command or ()))):  # its command cannot be changed
        return f"T{MODEL_TRAINER_STOP[1:]}."
    return _first(_RULES_OF_SIGNALS, plan, archive)


def _first(rules: Sequence[Rule], plan: JobPlan, archive: Archive) -> str | None:
    if plan.image.facts is None:
        return None
    subject = Subject(
        image=plan.image.name,
        facts=plan.image.facts,
        read=container_files(archive),
        command=(plan.image.entrypoint, plan.image.command or ()),
    )
    for result in examine(rules, subject):
        if result.findings:
            return _sentence(result, result.findings[0])
    return None


def _sentence(result: RuleResult, finding: Finding) -> str:
    text = finding.brief or finding.message
    if text.startswith(("the ", "there ")):  # others begin with a path, or the name of a program
        text = f"T{text[1:]}"
    return f"{text}. {finding.remedy or result.rule.remedy}"


_ABSENT = 404
_MOST = 300
"""Questions to the engine about one container: the folders of a PATH, and their files."""
_KINDS = {"sparse": "file", "fifo": "other", "hard": "other"}


def container_files(archive: Archive) -> ImageFiles:
    """The files of a container; `archive` has a path as a tar, with the path itself first."""
    reader = _Reader(archive)
    return ImageFiles(folders=_Folders(reader), contents=reader.contents)


class _Reader:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._known: dict[str, ImageEntry | None] = {}
        self.contents: dict[str, bytes] = {}

    def entry(self, path: str) -> ImageEntry | None:
        """The entry at a path, which is not followed if it is a link. Only the beginning of a file is kept."""
        if path not in self._known:
            if len(self._known) == _MOST:
                raise CannotLookError("too many files of the container were asked for")
            self._known[path] = self._read(path)
        return self._known[path]

    def _read(self, path: str) -> ImageEntry | None:
        try:
            with closing(self._archive(f"/{path}")) as pieces:
                stream = ByteStream(pieces)
                first = next(tar_entries(stream), None)
                if first is None:
                    for _ in pieces:  # an archive that is made by a program has its error at the end
                        pass
                    raise CannotLookError(f"the engine delivers nothing for /{path}")
                if first.kind == "file":
                    most = SCRIPTS.most if not first.mode & 0o111 else PROGRAMS.most
                    self.contents[path] = stream.exactly(min(first.size, most))
        except EngineError as error:
            if error.status == _ABSENT:
                return None
            raise CannotLookError(f"the engine does not deliver /{path}: {error}") from error
        except (SmlocalError, ArchiveError) as error:
            raise CannotLookError(f"/{path} was not read: {error}") from error
        kind = _KINDS.get(first.kind, first.kind)
        return ImageEntry(kind, first.mode, first.uid, first.gid, first.size, None, first.link)


class _Folder(Mapping[str, ImageEntry]):
    """The entries of one folder, as far as they are asked for by name."""

    def __init__(self, reader: _Reader, path: str) -> None:
        self._reader, self._path = reader, path

    def __getitem__(self, name: str) -> ImageEntry:
        entry = self._reader.entry(f"{self._path}/{name}" if self._path else name)
        if entry is None:
            raise KeyError(name)
        return entry

    def __iter__(self) -> Iterator[str]:
        raise CannotLookError("the files of the container are not listed")

    def __len__(self) -> int:
        raise CannotLookError("the files of the container are not listed")


class _Folders(Mapping[str, Mapping[str, ImageEntry]]):
    """Every folder there may be."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    def __getitem__(self, path: str) -> Mapping[str, ImageEntry]:
        return _Folder(self._reader, path)

    def __iter__(self) -> Iterator[str]:
        raise CannotLookError("the files of the container are not listed")

    def __len__(self) -> int:
        raise CannotLookError("the files of the container are not listed")

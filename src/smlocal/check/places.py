"""The place where a person would correct a finding: a line of the Dockerfile, or of the job file.

The instructions of a Dockerfile are read with their lines, as far as findings are placed at them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from smlocal.base.quick_dataclass import dataclass
from smlocal.check.interface import Finding
from smlocal.check.subject import HistoryStep, Subject
from smlocal.errors import DockerfileMissingError

_NO_OPERATION = re.compile(r"^(?:/bin/sh -c|cmd /S /C) #\(nop\)\s+")
_WORD = re.compile(r"(?:RUN\s+)?([A-Z]+)\b")
_MADE_NOTHING = {"FROM"}
_IMAGE = ("AlgorithmSpecification", "TrainingImage")
_LARGEST = 4 << 20
Place = Callable[[Finding], Finding]


@dataclass(frozen=True, kw_only=True, slots=True)
class Instruction:
    """One instruction."""

    word: str
    """In capitals: `ENTRYPOINT`."""
    text: str
    """The rest of the instruction, lines joined."""
    line: int
    """Where it begins, from 1."""


def placer(dockerfile: str) -> Callable[[Subject], Place]:
    """Read the Dockerfile, if there is one, before anything long is begun."""
    known = _read(dockerfile) if dockerfile else ()

    def of(subject: Subject) -> Place:
        stage, made = _built(known, subject.history)
        return lambda finding: _placed(finding, dockerfile, stage, made, subject)

    return of


_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)\s*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"#\s*escape\s*=\s*(\S)", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_WITH_HEREDOC = {"RUN", "COPY", "ADD"}


def _read(path: str) -> tuple[tuple[Instruction, ...], ...]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return stages(file.read(_LARGEST))
    except OSError as error:
        raise DockerfileMissingError(
            f"cannot read the Dockerfile {path}: {error.strerror or error}",
            remedy=["--dockerfile names the one that the image was built from."],
        ) from error


def _built(
    known: Sequence[Sequence[Instruction]], history: Sequence[HistoryStep]
) -> tuple[Sequence[Instruction], dict[int, Instruction]]:
    """The stage that the image is, with the instructions that made its layers: the last unless only another agrees."""
    for stage in reversed(known):
        made, whole = aligned(stage, history)
        if whole:
            return stage, made
    return (known[-1], aligned(known[-1], history)[0]) if known else ((), {})


def aligned(stage: Sequence[Instruction], history: Sequence[HistoryStep]) -> tuple[dict[int, Instruction], bool]:
    """Which instruction made which layer, and whether all of the stage agree with the image.

    The history of an image ends with the instructions of its last stage. They are compared from the end, word by word,
    as long as they agree: with another Dockerfile than the image's, hardly any does. If all do, the layers before them
    are those of FROM.
    """
    made: dict[int, Instruction] = {}
    ours = [each for each in stage if each.word not in _MADE_NOTHING]
    steps = _without_labels(history, ours)
    for instruction, step in zip(reversed(ours), steps, strict=False):
        if instruction.word != word_of(step.text):
            return made, False
        if step.layer is not None:
            made[step.layer] = instruction
    if len(steps) < len(ours):
        return made, False
    base = next((each for each in stage if each.word == "FROM"), None)
    for step in steps[len(ours) :]:
        if step.layer is not None and base is not None:
            made[step.layer] = base
    return made, True


def _without_labels(history: Sequence[HistoryStep], ours: Sequence[Instruction]) -> Sequence[HistoryStep]:
    """From the newest on, without a label that the builder's command line added."""
    steps = list(reversed(history))
    if steps and word_of(steps[0].text) == "LABEL" and not (ours and ours[-1].word == "LABEL"):
        del steps[0]
    return steps


def word_of(text: str) -> str:
    """The instruction that a line of an image's history stands for, in the words of either builder."""
    bare, is_no_operation = _NO_OPERATION.subn("", text)
    if is_no_operation:
        found = _WORD.match(bare)
        return found[1] if found else ""
    if text.startswith(("/bin/sh -c", "|", "RUN ")):  # `|2 A=1 B=2 /bin/sh -c …`: with build arguments
        return "RUN"
    found = _WORD.match(text)
    return found[1] if found else "RUN" if text else ""


def _placed(
    finding: Finding, dockerfile: str, stage: Sequence[Instruction], made: dict[int, Instruction], subject: Subject
) -> Finding:
    if finding.file:
        return finding
    if dockerfile:
        return replace(finding, file=dockerfile, line=_line(finding, stage, made))
    if subject.job is not None:
        document = subject.job.document
        return replace(finding, file=document.name, line=document.nearest_line(_IMAGE) or 0)
    return finding


def _line(finding: Finding, stage: Sequence[Instruction], made: dict[int, Instruction]) -> int:
    """The instruction that was named, the one that made the layer, or nothing."""
    word, _, name = finding.instruction.partition(" ")
    if word:
        same = [each for each in stage if each.word == word and (not name or _names(each, name))]
        return same[-1].line if same else 0
    instruction = None if finding.layer is None else made.get(finding.layer)
    return 0 if instruction is None else instruction.line


def _names(instruction: Instruction, name: str) -> bool:
    return re.search(rf"(?:^|[\s\[\"',]){re.escape(name)}(?:[\"'=\s,\]]|$)", instruction.text) is not None


def stages(text: str) -> tuple[tuple[Instruction, ...], ...]:
    """For each stage its instructions, after those of the stage of the same file that it begins from."""
    found: list[tuple[Instruction, ...]] = []
    names: dict[str, int] = {}
    for each in instructions(text):
        if each.word != "FROM":
            if found:
                found[-1] += (each,)
            continue
        words = [word for word in each.text.lower().split() if not word.startswith("--")]
        base = names.get(words[0]) if words else None
        found.append((*(found[base] if base is not None else ()), each))
        if len(words) > 2 and words[1] == "as":  # noqa: PLR2004 - image, as, name
            names[words[2]] = len(found) - 1
    return tuple(found)


def instructions(text: str) -> Iterator[Instruction]:
    """Every instruction of a Dockerfile, whatever it says."""
    escape, lines = "\\", enumerate(text.splitlines(), start=1)
    begin, parts = 0, list[str]()
    directives = True
    for number, line in lines:
        bare = line.strip()
        if bare.startswith("#") or not bare:
            if directives and (chosen := _ESCAPE.match(bare)):
                escape = chosen[1]
            directives = directives and bare.startswith("#")
            continue  # also between continued lines
        directives = False
        begin = begin or number
        continued = bare.endswith(escape)
        parts.append(bare[:-1] if continued else bare)
        if continued:
            continue
        instruction = _instruction(" ".join(parts), begin)
        begin, parts = 0, []
        if instruction is None:
            continue
        yield instruction
        _pass_over_documents(instruction, lines)
    if parts and (instruction := _instruction(" ".join(parts), begin)):
        yield instruction


def _pass_over_documents(instruction: Instruction, lines: Iterator[tuple[int, str]]) -> None:
    if instruction.word not in _WITH_HEREDOC:
        return
    for _, end in _HEREDOC.findall(instruction.text):
        for _, body in lines:
            if body.strip() == end:
                break


def _instruction(text: str, line: int) -> Instruction | None:
    found = _INSTRUCTION.match(text)
    return Instruction(word=found[1].upper(), text=found[2].strip(), line=line) if found else None

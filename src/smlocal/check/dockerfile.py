"""The instructions of a Dockerfile with their lines, as far as findings are placed at them."""

import re
from collections.abc import Iterator

from smlocal.quick_dataclass import dataclass

_WORD = re.compile(r"\s*([A-Za-z]+)\s*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"#\s*escape\s*=\s*(\S)", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_WITH_HEREDOC = {"RUN", "COPY", "ADD"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Instruction:
    """One instruction."""

    word: str
    """In capitals: `ENTRYPOINT`."""
    text: str
    """What follows, lines joined."""
    line: int
    """Where it begins, from 1."""


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
    found = _WORD.match(text)
    return Instruction(word=found[1].upper(), text=found[2].strip(), line=line) if found else None

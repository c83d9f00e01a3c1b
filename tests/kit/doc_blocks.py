"""The code blocks of README.md, docs/ and the examples: which of them are commands that a reader would type.

A block that a comment marks as `output`, or as `not run` with the reason, holds none; web pages do not show comments. A
block that begins with a member of a job file is a piece of one, and one whose first line is `# NAME.yaml`, `# NAME.py`
or `# Dockerfile` is that file.
In a block with `$ ` those lines are commands and the others are what they print. Every other line is a command.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if path.name != "python.md"  # test_examples.py runs its code
}
EXAMPLE_PAGES = {path.parent.name: path for path in sorted(ROOT.glob("examples/*/README.md"))}
"""The page of an example, by its folder. test_example_pages.py runs them."""
_MARK = re.compile(r"<!-- (output|not run: .+) -->$")
_MEMBER = re.compile(r"[A-Z][A-Za-z]+:[ \n]")
_FILE = re.compile(r"# (\S+\.(?:yaml|py)|Dockerfile)$")
_CODE = re.compile(r"; echo \$\?$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One block, without its indentation."""

    line: int
    text: str
    marked: bool

    @property
    def file(self) -> str | None:
        """The name under which a reader would save it."""
        named = _FILE.match(self.text.partition("\n")[0])
        return named[1] if named else None

    @property
    def is_piece(self) -> bool:
        """True for what stands in a job file."""
        return not self.marked and _MEMBER.match(self.text) is not None

    def commands(self) -> Iterator[tuple[str, int]]:
        """Each command, and the exit code that the page shows for it by `echo $?`, else 0."""
        if self.marked or self.file or self.is_piece:
            return
        lines = self.text.splitlines()
        if any(line.startswith("$ ") for line in lines):
            shown = "\n".join(lines)
            # `$ command`, then `$ echo $?` and its answer: together, as in `$ command; echo $?`.
            shown = re.sub(r"\n(?:(?!\$ ).*\n)*\$ echo \$\?$", "; echo $?", shown, flags=re.MULTILINE)
            lines = shown.splitlines()
            for line, following in zip(lines, [*lines[1:], "0"], strict=True):
                if line.startswith("$ "):
                    asked = _CODE.search(line)
                    yield _CODE.sub("", line[2:]), int(following) if asked else 0
        else:
            yield from ((line, 0) for line in lines)


def blocks(page: Path) -> list[Block]:
    """Fenced and indented ones, in order."""
    found: list[Block] = []
    lines = [*page.read_text(encoding="utf-8").splitlines(), ""]
    before, at = "", 0
    while at < len(lines):
        line = lines[at]
        if fence := re.match(r" *(```+)", line):
            end = next(n for n in range(at + 1, len(lines)) if lines[n].strip().startswith(fence[1]))
            found.append(_block(at + 2, lines[at + 1 : end], before))
            before, at = "", end + 1
        elif line.startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            rest = range(at, len(lines))
            end = next((n for n in rest if lines[n].strip() and not lines[n].startswith("    ")), len(lines))
            found.append(_block(at + 1, lines[at:end], before))
            before, at = "", end
        else:
            before, at = line.strip() or before, at + 1
    return found


def _block(line: int, lines: list[str], before: str) -> Block:
    indent = min((len(text) - len(text.lstrip()) for text in lines if text.strip()), default=0)
    text = "\n".join(text[indent:] for text in lines).strip("\n")
    return Block(line=line, text=text, marked=_MARK.match(before) is not None)

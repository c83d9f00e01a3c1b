"""The commands of a page, typed in one shell as its reader would type them."""

import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.kit.doc_blocks import Block


@dataclass(frozen=True, kw_only=True, slots=True)
class Typed:
    """One command of a page, and what became of it."""

    block: Block
    command: str
    expected: int
    """The exit code that the page shows."""
    ended: int
    output: str


def type_commands(
    blocks: Iterable[Block],
    *,
    cwd: Path,
    scratch: Path,
    environment: Mapping[str, str],
    before: str = "",
    here: Callable[[str], str] = str,
) -> list[Typed]:
    """Write the files that the blocks show and run their commands; `here` replaces what only a reader has.

    Commands run in one shell, so that `cd` and `export` hold for those that follow. A failure ends nothing.
    """
    script = [before]
    asked: list[tuple[Block, str, int]] = []
    for block in blocks:
        if block.file:
            (cwd / block.file).write_text(here(block.text))
        for command, code in block.commands():
            output = scratch / str(len(asked))
            script.append(f"{{ {here(command)}\n}} >'{output}' 2>&1 || echo $? >'{output}.code'")
            asked.append((block, command, code))
    subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=600,
    )
    return [
        Typed(
            block=block,
            command=command,
            expected=code,
            ended=int(ended.read_text()) if (ended := scratch / f"{number}.code").exists() else 0,
            output=(scratch / str(number)).read_text(),
        )
        for number, (block, command, code) in enumerate(asked)
    ]

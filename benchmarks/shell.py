"""From `smlocal shell` of a failed job that was kept until its prompt, against `docker run -it` of the image."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from measure import alternate
from results import Figure, Size, comparison, main
from workplace import BIN, SH, image, workplace

BOUND = 2.0
_PROMPT = b"# "
_SECONDS = 60
_FAILS = "echo seen >/seen; exit 3"
"""It also writes outside of its mounts, as most programs do, so there is something to bring over."""


def until_prompt(command: Sequence[str | Path], environment: Mapping[str, str]) -> float:
    """Seconds until a shell at a terminal asks for a command; it is ended then."""
    began = time.perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe(command[0], list(map(str, command)), dict(environment))
    took, shown = 0.0, b""
    try:
        while select.select([terminal], [], [], _SECONDS)[0]:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # what Linux says when the last process has closed it
                piece = b""
            if not piece:
                break
            shown += piece
            if not took and _PROMPT in shown:
                took = time.perf_counter() - began
                os.write(terminal, b"exit\r")
    finally:
        os.close(terminal)
    _, status = os.waitpid(process, 0)
    if not took or os.waitstatus_to_exitcode(status):
        sys.exit(f"{command[0]} showed no prompt:\n{shown.decode(errors='replace')}")
    return took


def measure(size: Size) -> list[Figure]:
    tag = image(SH)
    with workplace() as place:
        name = place.new_name()
        failing: list[str | Path] = [
            BIN / "smlocal",
            "run",
            "--quiet",
            "--image",
            tag,
            "--name",
            name,
            "--output",
            place.output,
        ]
        failing += ["--keep", "failed", "-e", f"SCRIPT={_FAILS}"]
        subprocess.run(failing, env=place.environment, check=False)
        try:
            ours, theirs = alternate(
                lambda: until_prompt([BIN / "smlocal", "shell", name], place.environment),
                lambda: until_prompt(["docker", "run", "--rm", "-it", tag, "sh"], place.environment),
                rounds=size.rounds,
                name="shell",
            )
        finally:
            subprocess.run([BIN / "smlocal", "rm", name], env=place.environment, stderr=subprocess.DEVNULL, check=True)
    return [comparison("prompt of `smlocal shell` of a kept job ÷ `docker run -it`", ours, theirs, BOUND)]


if __name__ == "__main__":
    main(measure)

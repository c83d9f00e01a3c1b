"""All values of 1,000 tensors, read by smlocal and by the debugger's own library, in one process of its environment."""

import json
import os
import subprocess
from pathlib import Path

from measure import Samples, progress
from results import Figure, Size, comparison, main
from workplace import ROOT

BOUND = 0.5
TENSORS = 1000
_PROGRAM = Path(__file__).with_name("tensor_readers.py")
_REQUIREMENTS = ROOT / "tests" / "jobs" / "rules" / "requirements-of-rules.txt"


def measure(size: Size) -> list[Figure]:
    links = os.environ.get("PIP_FIND_LINKS")  # may have a small torch; uv does not read it
    options = ["--find-links", links] if links else []
    made = subprocess.run(
        [str(ROOT / "scripts" / "client-environment"), _REQUIREMENTS, *options],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    progress("1,000 tensors")
    command: list[str | Path] = [Path(made.stdout.strip()) / "bin" / "python", _PROGRAM, str(TENSORS), str(size.rounds)]
    quiet = {"SMDEBUG_LOG_LEVEL": "error", "SMDEBUG_TRAINING_END_DELAY_REFRESH": "0", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env={**os.environ, **quiet}, stdout=subprocess.PIPE, text=True, check=True)
    progress("")
    seconds = json.loads(done.stdout.splitlines()[-1])
    ours, theirs = (Samples(values=tuple(seconds[side])) for side in ("smlocal", "smdebug"))
    return [comparison("all values of 1,000 tensors, smlocal ÷ smdebug", ours, theirs, BOUND)]


if __name__ == "__main__":
    main(measure)

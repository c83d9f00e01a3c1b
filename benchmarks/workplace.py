"""A folder for one benchmark: a home for its jobs, the data it needs, and the command under test."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from measure import Ended, execute, progress

ROOT = Path(__file__).parents[1]
# As scripts/test does: with this variable, Python would compile smlocal again in every run.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

BIN = ROOT / ".venv" / "bin"
NO_OP = ROOT / "benchmarks" / "images" / "no-op"
PROGRAMS = ROOT / "benchmarks" / "programs"
"""What runs in a process or a container of its own."""
SH = ROOT / "tests" / "kit" / "images" / "sh"
"""Its `train` does what the variable SCRIPT says."""
PY = SH.with_name("py")
"""So does this one's, in Python."""

COPY_TO_MODEL = "cp -r /opt/ml/input/data/train/. /opt/ml/model/"

_FROM_OUTSIDE = ("SMLOCAL_", "AWS_")
_PIECE = 64 << 10
_FILES_A_FOLDER = 1000


@dataclass(kw_only=True, slots=True)
class Workplace:
    """Use `workplace`."""

    folder: Path
    jobs: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def output(self) -> Path:
        return self.folder / "output"

    def new_name(self) -> str:
        self.jobs += 1
        return f"benchmark-{os.getpid()}-{self.jobs}"

    def run(self, image: str, *options: str, name: str | None = None) -> Ended:
        """`smlocal run` as a whole process."""
        return self._run("--image", image, *options, name=name)

    def run_file(self, file: Path, *options: str) -> Ended:
        """`smlocal run FILE` as a whole process."""
        return self._run(str(file), *options)

    def run_by(self, programs: Path, image: str) -> Ended:
        """`smlocal run` of another environment, by its folder of programs; with a home of its own."""
        home = self.folder / f"home-of-{programs.parents[1].name}"
        command: list[str | Path] = [programs / "smlocal", "run", "--image", image, "--name", self.new_name()]
        return execute([*command, "--output", self.output], environment={**self.environment, "SMLOCAL_HOME": str(home)})

    def _run(self, *options: str, name: str | None = None) -> Ended:
        job = name or self.new_name()
        command: list[str | Path] = [BIN / "smlocal", "run", *options, "--name", job, "--output", self.output]
        return execute(command, environment=self.environment)

    def clear(self) -> None:
        """Forget jobs and artifacts, and let the disk come to rest, so that no run pays for another."""
        shutil.rmtree(self.output, ignore_errors=True)
        for job in (self.folder / "home" / "jobs").glob("benchmark-*"):
            shutil.rmtree(job)
        os.sync()

    def many_files(self, count: int) -> Path:
        """A folder of `count` small files, a thousand in each folder below it."""
        progress(f"making {count} files")
        top = self.folder / f"{count}-files"
        for number in range(count):
            if number % _FILES_A_FOLDER == 0:
                below = top / f"{number // _FILES_A_FOLDER:04}"
                below.mkdir(parents=True)
            (below / f"{number:06}.txt").write_bytes(b"%06d\n" % number)
        return top

    def half_random(self, megabytes: int) -> Path:
        """A folder of eight files, in pieces by turns random, words, random and zeros."""
        progress(f"making {megabytes} MB")
        top = self.folder / f"{megabytes}-megabytes"
        top.mkdir()
        chance = random.Random(megabytes)
        vocabulary = [b"%x" % chance.getrandbits(40) for _ in range(4000)]
        words = b" ".join(chance.choices(vocabulary, k=_PIECE // 4))
        for number in range(8):
            with (top / f"part-{number}.bin").open("wb") as file:
                for piece in range(megabytes * 1_000_000 // 8 // _PIECE):
                    start = chance.randrange(len(words) - _PIECE)
                    plain = words[start : start + _PIECE] if piece % 4 == 1 else bytes(_PIECE)
                    file.write(plain if piece % 2 else os.urandom(_PIECE))
        return top


@contextmanager
def workplace() -> Iterator[Workplace]:
    """A new, empty workplace; TMPDIR says where."""
    if not (BIN / "smlocal").exists():
        sys.exit("There is no .venv here: run `scripts/test --fast` once, which makes it.")
    with tempfile.TemporaryDirectory(prefix="smlocal-benchmark-") as folder:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(_FROM_OUTSIDE)}
        yield Workplace(folder=Path(folder), environment={**kept, "SMLOCAL_HOME": f"{folder}/home"})
        progress("clearing up")
    progress("")


def image(folder: Path) -> str:
    """Have the image in this folder on the engine; returns its tag."""
    made = subprocess.run([ROOT / "scripts" / "image", folder], stdout=subprocess.PIPE, text=True, check=True)
    return made.stdout.strip()

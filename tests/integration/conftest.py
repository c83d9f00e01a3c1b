"""What tests on a real engine share: images made without a registry, the command, and a look at what is left behind."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMAGES = Path(__file__).with_name("images")

_FROM_OUTSIDE = ("SMLOCAL_", "AWS_", "NO_COLOR", "FORCE_COLOR")
_KINDS = (
    ("containers", ("ps", "--all")),
    ("volumes", ("volume", "ls")),
    ("networks", ("network", "ls")),
)


@cache
def build_image(folder: Path) -> str:
    """Have the image in this folder on the engine, built only when its content is new; returns its tag."""
    built = subprocess.run([ROOT / "scripts" / "image", folder], stdout=subprocess.PIPE, text=True, check=True)
    return built.stdout.strip()


def run_docker(*arguments: str) -> str:
    """Run the docker client and return what it prints; a failure shows what it said."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"docker {' '.join(arguments)}: {done.stderr}"
    return done.stdout


def left_of(job: str) -> list[str]:
    """Everything of this job that is still on the engine or mounted."""
    left = []
    for kind, command in _KINDS:
        named = run_docker(*command, "--quiet", "--filter", f"label=smlocal.job={job}").split()
        left += [f"{kind}: {each}" for each in named]
    mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return left + [f"mounted: {line}" for line in mounts if job in line]


@pytest.fixture(scope="session")
def docker() -> Callable[..., str]:
    return run_docker


@pytest.fixture(scope="session")
def image() -> Callable[[str | Path], str]:
    """Builds `tests/integration/images/<name>/`, or any folder, and returns the tag."""

    def make(folder: str | Path) -> str:
        return build_image(IMAGES / folder)

    return make


@pytest.fixture
def smlocal_home(tmp_path: Path) -> Path:
    """Where the jobs of this test are remembered."""
    return tmp_path / "home"


@pytest.fixture
def smlocal_run(smlocal_home: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `smlocal <arguments>` as a process of its own, away from the settings of whoever runs the tests."""

    def run(
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = False,
        stdin: str = "",
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(_FROM_OUTSIDE)}
        return subprocess.run(
            [sys.executable, "-m", "smlocal", *arguments],
            cwd=cwd,
            env={**kept, "SMLOCAL_HOME": str(smlocal_home), **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            # What a container writes need not be text.
            errors="backslashreplace",
            check=check,
            timeout=timeout,
        )

    return run


@pytest.fixture(scope="session")
def assert_nothing_left() -> Callable[[str], None]:
    """Fails when anything that carries the job's label is on the engine, or anything of it is mounted."""

    def check(job: str) -> None:
        left = left_of(job)
        assert not left, f"the job {job} left:\n" + "\n".join(left)

    return check

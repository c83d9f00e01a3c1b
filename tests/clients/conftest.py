"""Clients written by others, each in an environment of its own, and users without an AWS account."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.kit.fixtures import ROOT, clock_stopped

PROGRAMS = Path(__file__).with_name("programs")
_REQUIREMENTS = Path(__file__).with_name("requirements")
_ENVIRONMENT_SECONDS = 1800.0
_PROGRAM_SECONDS = 600.0


@cache
def client_folder(requirements: str) -> Path:
    """The environment of `requirements/NAME.txt`, made when it is not there yet."""
    with clock_stopped():
        made = subprocess.run(
            [ROOT / "scripts" / "client-environment", _REQUIREMENTS / f"{requirements}.txt"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=_ENVIRONMENT_SECONDS,
        )
    return Path(made.stdout.strip())


def skip_without_python_of_images(requirements: str) -> None:
    """SDKs run functions only in a container with the Python of the client, and the images of the tests have 3.11."""
    python = client_folder(requirements) / "bin" / "python"
    says = "import sys; print(sys.version_info[:2] == (3, 11))"
    found = subprocess.run([python, "-c", says], capture_output=True, text=True, check=True, timeout=_PROGRAM_SECONDS)
    if found.stdout.strip() != "True":
        pytest.skip("functions run in the Python of the client, and the images have 3.11")


@dataclass(frozen=True, kw_only=True)
class User:
    """Somebody without an AWS account, who starts programs."""

    home: Path
    """The home of smlocal."""
    own: Path
    """The user's own: empty at first."""

    def environment(self, **more: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SMLOCAL_"))}
        return {**kept, "HOME": str(self.own), "SMLOCAL_HOME": str(self.home), **more}

    def run(
        self, command: Sequence[str | Path], *, cwd: Path | None = None, **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            env=self.environment(**environment),
            cwd=cwd or self.own,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PROGRAM_SECONDS,
        )

    def execute(
        self, requirements: str | None, program: str, *arguments: str | Path, cwd: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """`smlocal exec -- python PROGRAM ARGUMENTS`, where `python` has these packages; None: those of the tests."""
        python = Path(sys.executable) if requirements is None else client_folder(requirements) / "bin" / "python"
        command = [sys.executable, "-m", "smlocal", "exec", "--", python, PROGRAMS / program, *arguments]
        done = self.run(command, cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done


@pytest.fixture
def user(smlocal_home: Path, tmp_path: Path) -> User:
    own = tmp_path / "user"
    own.mkdir()
    return User(home=smlocal_home, own=own)


@pytest.fixture
def serve(user: User) -> Callable[..., Any]:
    """`with serve("--max-instances", "1") as address:` runs `smlocal serve` in the home of the test."""

    @contextmanager
    def serving(*options: str | Path) -> Iterator[str]:
        command = [sys.executable, "-m", "smlocal", "serve", "--port", "0", "--no-key", *options]
        with subprocess.Popen(command, env=user.environment(), stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            try:
                found = re.search(r"http://\S+", first := server.stderr.readline())
                assert found is not None, first + server.stderr.read()
                yield found[0]
            finally:
                server.terminate()
                said = server.stderr.read()
        assert "Traceback" not in said, said
        assert server.returncode == 0, said

    return serving


def last_json(text: str) -> Any:
    """The document that a program prints in its last line."""
    return json.loads(text.splitlines()[-1])

"""Rules for every test, however the suite is started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_INSIDE = "SMLOCAL_INSIDE"


def pytest_of(test: str, *, before: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
    """One of the tests below, in a pytest of its own that a shell starts."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", f"{Path(__file__)}::{test}"]
    return subprocess.run(
        ["sh", "-c", f'{before} exec "$@"', "sh", *command],
        cwd=ROOT,
        env={**os.environ, _INSIDE: "yes", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.slow(0.5)
def test_scripts_that_tests_start_leave_the_environment_as_it_is() -> None:
    stamp = ROOT / ".venv" / ".smlocal-setup"
    if not stamp.exists() or Path(sys.prefix) != stamp.parent:
        pytest.skip("this is not the environment of scripts/test")
    command = '. scripts/lib/setup.sh; make_venv() { echo "made again"; exit 1; }; see_to_venv ""'
    inside = f"{stamp.parent}/bin"
    outside = os.pathsep.join(each for each in os.environ["PATH"].split(os.pathsep) if each != inside)
    for path in (outside, f"{inside}:{outside}"):
        environment = {**os.environ, "PATH": path}
        done = subprocess.run(
            ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_what_tests_start_hears_signals() -> None:
    said = "import signal; print([signal.getsignal(each) for each in (1, 2, 3, 15)].count(signal.SIG_IGN))"
    assert subprocess.check_output([sys.executable, "-c", said], text=True) == "0\n"


@pytest.mark.slow(0.5)
def test_also_where_they_are_ignored() -> None:
    done = pytest_of("test_what_tests_start_hears_signals", before="trap '' HUP INT QUIT TERM;")
    assert done.returncode == 0, done.stdout


def test_that_waits() -> None:
    if _INSIDE in os.environ:
        subprocess.run(["sleep", "60"], check=False)


@pytest.mark.slow(0.5)
def test_one_that_waits_fails_in_the_end() -> None:
    done = pytest_of("test_that_waits", PYTEST_TIMEOUT="1")
    assert done.returncode == 1
    assert "Timeout (>1.0s)" in done.stdout


@pytest.mark.slow(0.5)
def test_every_test_has_a_limit() -> None:
    done = pytest_of("test_that_waits", before="unset PYTEST_TIMEOUT;", **{_INSIDE: "", "PYTEST_ADDOPTS": "-k none"})
    assert "timeout: 300" in done.stdout

"""Programs that run where smdebug is, in an environment of its own: its pins are older than ours."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.kit.fixtures import ROOT, clock_stopped

PROGRAMS = Path(__file__).with_name("rule_programs")
PACKAGE = ROOT / "src" / "smlocal" / "debugger" / "evaluator_package"
_REQUIREMENTS = Path(__file__).with_name("requirements-of-rules.txt")
_ENVIRONMENT_SECONDS = 1800.0
_PROGRAM_SECONDS = 800.0


@cache
def rule_python() -> Path:
    """Python with smdebug, torch and XGBoost; made when it is not there yet."""
    links = os.environ.get(
        "PIP_FIND_LINKS"
    )  # may have a torch without CUDA, which is a tenth of the size; uv reads it not
    options = ["--find-links", links] if links else []
    with clock_stopped():
        made = subprocess.run(
            [ROOT / "scripts" / "client-environment", _REQUIREMENTS, *options],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=_ENVIRONMENT_SECONDS,
        )
    return Path(made.stdout.strip()) / "bin" / "python"


def environment(*modules: Path) -> dict[str, str]:
    """For a program that uses smdebug outside of a job: without the name of one, the hook writes the end marker."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SM", "TRAINING_JOB_"))}
    return {**kept, "PYTHONPATH": os.pathsep.join(map(str, modules)), "OMP_NUM_THREADS": "1"}


def evaluator_environment() -> dict[str, str]:
    """The environment of a program that evaluates rules."""
    return environment(PACKAGE, PROGRAMS / "evaluator_modules")


def train(program: str, *arguments: str | Path) -> None:
    """Run a program that writes tensors."""
    _run([PROGRAMS / program, *arguments], environment())


def evaluate_all(asked: Path, found: Path) -> None:
    """Evaluate many rules."""
    _run([PROGRAMS / "evaluate_all.py", asked, found], evaluator_environment())


def read_tensors(runs: Path, found: Path) -> None:
    """Read all tensors as smdebug does."""
    _run([PROGRAMS / "read_tensors.py", runs, found], environment())


def _run(arguments: Sequence[str | Path], variables: Mapping[str, str]) -> None:
    done = subprocess.run(
        [rule_python(), *arguments],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PROGRAM_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def configuration(
    parameters: Mapping[str, str],
    *,
    tensors: Path,
    result: Path,
    others: Sequence[Path] = (),
    source: Path | None = None,
) -> dict[str, Any]:
    """The configuration that smlocal gives to the container of a rule."""
    return {
        "RuleConfigurationName": "my-rule",
        "RuleParameters": dict(parameters),
        "TensorsPath": str(tensors),
        "OtherTrials": [str(other) for other in others],
        "SourcePath": str(source) if source else None,
        "ResultPath": str(result),
        "JobName": "My-Job",
    }

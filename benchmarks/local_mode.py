"""A no-op job with one channel, against the same by the local mode of version 2 of the SageMaker SDK.

That is a program of a few lines, as users have it; `fit` alone is timed within. It needs docker compose (`apt-get
install docker-compose`). The SDK's telemetry is switched off, and no request to AWS leaves this machine.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from measure import Samples, alternate, progress
from results import Figure, Size, comparison, main
from workplace import NO_OP, PROGRAMS, ROOT, Workplace, image, workplace

PROGRAM_BOUND = 0.11
FIT_BOUND = 0.32
REQUIREMENTS = ROOT / "tests" / "clients" / "requirements" / "sdk-2.txt"
NETWORK = "sagemaker-local"
"""The SDK makes it, and leaves it."""
FILES = 10
_SECONDS = 300
_OPT_OUT = "SchemaVersion: '1.0'\nSageMaker:\n  PythonSDK:\n    Modules:\n      TelemetryOptOut: true\n"


def measure(size: Size) -> list[Figure]:
    if not has_compose():
        sys.exit("docker compose is not here: apt-get install docker-compose")
    tag = image(NO_OP)
    made = subprocess.run(
        [ROOT / "scripts" / "client-environment", REQUIREMENTS], stdout=subprocess.PIPE, text=True, check=True
    )
    python = Path(made.stdout.strip()) / "bin" / "python"
    fits: list[float] = []
    with workplace() as place, _sdk(place) as environment:
        channel = place.many_files(FILES)

        def theirs() -> float:
            """Seconds of the whole program."""
            began = time.perf_counter()
            done = subprocess.run(
                [python, PROGRAMS / "sdk2_local_mode.py", tag, channel, place.output],
                env=environment,
                cwd=place.folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
            took = time.perf_counter() - began
            if done.returncode:
                sys.exit(f"the program of the SDK ended with {done.returncode}:\n{done.stdout}{done.stderr}")
            fits.append(float(done.stdout.split()[-1]))
            return took

        ours, whole = alternate(
            lambda: place.run(tag, "--channel", f"train={channel}").seconds,
            theirs,
            rounds=size.rounds,
            name="local mode",
        )
    fit = Samples(values=tuple(fits[1:]))
    what = "no-op job with a channel ÷ the local mode of SDK v2"
    return [
        comparison(f"{what}, whole program", ours, whole, PROGRAM_BOUND),
        comparison(f"{what}, `fit` alone", ours, fit, FIT_BOUND),
    ]


def has_compose() -> bool:
    """True if the SDK would find it: as a plugin of docker, or as a program."""
    plugin = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False, timeout=60)
    return plugin.returncode == 0 or shutil.which("docker-compose") is not None


@contextmanager
def _sdk(place: Workplace) -> Iterator[Mapping[str, str]]:
    """The environment of its program; what it leaves on the engine is removed."""
    home, temporary = place.folder / "home-of-sdk", place.folder / "temporary"
    home.mkdir()
    temporary.mkdir()
    configuration = home / "config.yaml"
    configuration.write_text(_OPT_OUT)
    had_network = NETWORK in _names()
    try:
        yield {
            **place.environment,
            "HOME": str(home),
            "TMPDIR": str(temporary),
            "SAGEMAKER_USER_CONFIG_OVERRIDE": str(configuration),
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_ENDPOINT_URL": "http://127.0.0.1:1",  # nobody listens there
        }
    finally:
        progress("removing what the SDK has left")
        _remove_containers(temporary)
        if not had_network:
            subprocess.run(["docker", "network", "rm", NETWORK], capture_output=True, check=False, timeout=60)


def _names() -> set[str]:
    listed = subprocess.run(
        ["docker", "network", "ls", "--format", "{{.Name}}"], stdout=subprocess.PIPE, text=True, check=True, timeout=60
    )
    return set(listed.stdout.split())


def _remove_containers(temporary: Path) -> None:
    """Those of the SDK's projects: it has a folder for each there."""
    for project in temporary.iterdir():
        label = f"label=com.docker.compose.project.working_dir={project}"
        found = subprocess.run(
            ["docker", "ps", "--all", "--quiet", "--filter", label],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=60,
        ).stdout.split()
        if found:
            subprocess.run(["docker", "rm", "--force", *found], capture_output=True, check=True, timeout=60)


if __name__ == "__main__":
    main(measure)

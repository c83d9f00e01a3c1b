"""Builds an image with the `docker build` command, on a given engine."""

import os
import subprocess
import sys
import tempfile

from smlocal.engine.interface import Engine
from smlocal.errors import BuildFailedError, BuildUnavailableError, DockerfileMissingError

_LONGEST_SECONDS = 4 * 3600.0
"""A build that downloads tens of gigabytes takes an hour."""
_END_SECONDS = 10.0
_LINES_SHOWN = 20
"""The lines shown of the errors of a quiet build."""


def build_image(engine: Engine, folder: str, tag: str, *, quiet: bool) -> None:
    """Build the Dockerfile in a folder. The output goes to standard error; nothing is shown if `quiet`."""
    check_dockerfile(folder)
    engine.facts()  # an engine that does not answer is an error of its own
    with tempfile.TemporaryDirectory(prefix="smlocal-build-") as scratch:
        id_file = f"{scratch}/id"
        # A build that fails would leave the container of its last step. BuildKit makes none, and ignores --force-rm.
        words = [*engine.docker_command(), "build", "--force-rm", "--tag", tag, "--iidfile", id_file]
        words += [*(["--quiet"] if quiet else []), "--", folder]
        _run(words, folder, quiet=quiet)
        with open(id_file, encoding="ascii") as file:
            image = file.read().strip()
    if engine.image(image) is None:
        raise BuildFailedError(
            f"the image {tag} was built, but the engine does not have it",
            remedy=["The builder in use keeps images to itself. Use the engine's own: docker buildx use default"],
        )


def check_dockerfile(folder: str) -> None:
    """Refuse a folder without a Dockerfile that can be read."""
    path = os.path.join(folder, "Dockerfile")
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise DockerfileMissingError(
            f"cannot read the Dockerfile {path}: {error.strerror}", remedy=["--build names a folder with a Dockerfile."]
        ) from error


def _run(words: list[str], folder: str, *, quiet: bool) -> None:
    to = subprocess.PIPE if quiet else sys.stderr.fileno()
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL if quiet else to, stderr=to
        )
    except OSError as error:
        raise BuildUnavailableError(
            f"the docker command cannot be started, and --build needs it: {error.strerror}",
            remedy=["Install the docker client, or build the image in another way and run without --build."],
        ) from error
    try:
        _, errors = process.communicate(timeout=_LONGEST_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise BuildFailedError(
            f"the build of {folder} took longer than {_LONGEST_SECONDS / 3600:g} hours and was ended"
        ) from error
    finally:
        _end(process)
    if process.returncode != 0:
        lines = (errors or b"Its output above says why.").decode(errors="replace").strip().splitlines()
        raise BuildFailedError(
            f"the image could not be built from {folder}: docker build exited with {process.returncode}",
            details=lines[-_LINES_SHOWN:],
        )


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a build that is still running. The client is asked to stop, so that the engine hears of it."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

"""The evaluator of debugger rules: its image, which is built on this machine from published packages, and its rules."""

import hashlib
import os
import runpy
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from smlocal.engine.interface import Engine
from smlocal.engine.pull import build_image
from smlocal.errors import BuildFailedError, BuildUnavailableError, EvaluatorImageError

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "evaluator_image")
_FILES = ("Dockerfile", "no-deps.txt", "requirements.txt")


def evaluator_tag() -> str:
    """The name of the image. Another version of smlocal may need another one."""
    digest = hashlib.sha256()
    for name in _FILES:
        with open(f"{_FOLDER}/{name}", "rb") as file:
            digest.update(file.read())
    return f"smlocal-rules:{digest.hexdigest()[:16]}"


def build_evaluator(engine: Engine, *, base: str | None, quiet: bool) -> str:
    """Build it and return its name. `base`: an image with Python 3.11 and pip; None for Python's own."""
    tag = evaluator_tag()
    with tempfile.TemporaryDirectory(prefix="smlocal-rules-") as folder:
        for name in _FILES:
            shutil.copy(f"{_FOLDER}/{name}", folder)
        if base is not None:
            with open(f"{folder}/Dockerfile", encoding="utf-8") as file:
                lines = [f"ARG BASE={base}\n" if line.startswith("ARG BASE=") else line for line in file]
            with open(f"{folder}/Dockerfile", "w", encoding="utf-8") as file:
                file.writelines(lines)
        try:
            build_image(engine, folder, tag, quiet=quiet)
        except (BuildFailedError, BuildUnavailableError) as error:
            raise EvaluatorImageError(
                "the image that evaluates debugger rules could not be built",
                details=[error.sentence, *error.details],
                remedy=[
                    "It is made from python:3.11-slim-bookworm and PyPI. From another image with Python 3.11 and pip:",
                    "smlocal rules build --base IMAGE",
                    "To run the job without its rules: smlocal run --no-rules",
                ],
            ) from error
    return tag


def see_to_evaluator(engine: Engine, progress: Callable[[str], None], working: Callable[[str], None]) -> None:
    """Build the image if the engine does not have it. `working` gets a text each second."""
    if engine.image(evaluator_tag()) is None:
        progress("building the image that evaluates debugger rules, once; this takes a minute or two")
        with _timed(working):
            build_evaluator(engine, base=None, quiet=True)


@contextmanager
def _timed(working: Callable[[str], None]) -> Iterator[None]:
    over, began = Event(), time.monotonic()

    def show() -> None:
        while not over.wait(1.0):
            working(f"building: {time.monotonic() - began:.0f} s")

    thread = Thread(target=show, name="building", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


_REGISTRY = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "evaluator_package", "smlocal_rules", "registry.py"
)


def built_in_rules() -> tuple[str, ...]:
    """The names of those that are evaluated, without importing the evaluator's package."""
    return tuple(runpy.run_path(_REGISTRY)["BUILT_IN"])


def recorded_rules() -> tuple[str, ...]:
    """Those of the service that are recorded only."""
    names = runpy.run_path(_REGISTRY)
    return (*sorted(names["REPORT_RULES"]), *sorted(names["PROFILER_RULES"]))

"""`smlocal demo`: a first job, with nothing but this package and an engine."""

import os
import re
import shlex
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from smlocal.base.at_use import at_use
from smlocal.base.files import remove_tree
from smlocal.cli.command_table import load_command
from smlocal.cli.job_argument import job_named
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.printable import printable
from smlocal.errors import SmlocalError
from smlocal.errors.of_commands import DemoBaseMissingError
from smlocal.jobs.store.home import home_directory, prepare_home

if TYPE_CHECKING:
    from smlocal.api.job_list import matching_jobs
    from smlocal.engine.engines import engines_named
    from smlocal.engine.interface import Engine
    from smlocal.engine.pull import ecr_login
else:
    engines_named = at_use("smlocal.engine.engines", "engines_named")
    ecr_login = at_use("smlocal.engine.pull", "ecr_login")
    matching_jobs = at_use("smlocal.api.job_list", "matching_jobs")

IMAGE = "smlocal-demo:latest"
_FILES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "demo_files")
_COPIED = ("job.yaml", "data/points.csv", "image/train")
_DOCKERFILE = """\
# The base is any image with sh and awk. What makes it a training image is the program that it starts.
FROM {base}
USER root
COPY train /opt/demo/train
ENTRYPOINT ["sh", "/opt/demo/train"]
"""
_BASES = (
    *("busybox:stable", "busybox:latest", "alpine:3", "alpine:latest"),
    *("debian:stable-slim", "debian:bookworm-slim", "debian:trixie-slim", "debian:latest"),
    *("ubuntu:24.04", "ubuntu:22.04", "ubuntu:latest"),
    *("python:3-slim", "python:3.13-slim", "python:3.12-slim", "python:3.11-slim", "python:3"),
)
"""Images with sh and awk that many machines have. The first one is pulled where there is none: it has 4 MB."""
_PULLED = "pulled"
"""The file with the names of the images that were pulled for the demo, to be removed with it."""
_JOBS = "smlocal-demo-"
_JOB = re.compile(rf"{_JOBS}\d{{8}}-\d{{6}}")


@shown_command(
    "demo",
    examples=(
        ("smlocal demo", "Build the image and run the job."),
        ("smlocal demo --base debian", "Build from an image of your choice."),
        ("smlocal demo --clean", "Remove all demos."),
    ),
)
@click.option("--base", metavar="IMAGE", help="Image to build from; it needs sh and awk. Default: found or pulled.")
@click.option("--clean", is_flag=True, help="Remove the jobs, the image and the files of earlier demos.")
@click.pass_context
def command(ctx: click.Context, *, base: str | None, clean: bool) -> int:
    """Build a tiny training image, and run a job in it.

    Needs only an engine and a base image: one that the engine has, or a registry from which 4 MB are pulled. Shows the
    files that it was made from, and what to do next.
    """
    if base is not None and clean:
        raise click.UsageError("--base and --clean cannot be used together.")
    engine, folder = engines_named(()).first, os.path.join(home_directory(), "demo")
    if clean:
        _clean(engine, folder)
        return 0
    prepare_home(home_directory())
    chosen, pulled = _base(engine, base)
    _write_files(folder, chosen, pulled=pulled)
    name = time.strftime(f"{_JOBS}%Y%m%d-%H%M%S")
    words = [f"{folder}/job.yaml", "--build", f"{folder}/image", "--name", name]
    _say(f"The demo is in {folder}. Its image is built from {chosen}.", f"$ smlocal run {shlex.join(words)}")
    code = _run(ctx, words)
    if code == 0:
        _say(*_next(folder))
    return code


def _run(ctx: click.Context, words: list[str]) -> int:
    """What `smlocal run` does with these words."""
    run = load_command("run")
    with run.make_context("run", words, parent=ctx.parent) as context:
        code = run.invoke(context)
    return code if isinstance(code, int) else 0


_BESIDE = 28
"""Columns of a command beside its explanation; that of a longer command is below it."""


def _next(folder: str) -> Iterator[str]:
    yield "Next"
    for what, does in (
        ("smlocal describe", "everything about this job"),
        ("smlocal report --open", "the same as a page"),
        (f"cd {shlex.quote(folder)}", "its job.yaml, image and data: change them, then smlocal run --build image"),
        ("smlocal init IMAGE", "a job file for an image of yours"),
        ("smlocal demo --clean", "remove all of the demo"),
    ):
        beside = what if len(what) <= _BESIDE else ""
        if not beside:
            yield f"  {what}"
        yield f"  {beside:<{_BESIDE}} {does}"


def _base(engine: "Engine", asked: str | None) -> tuple[str, bool]:
    """The image to build from, and whether it was pulled."""
    architecture = engine.facts().architecture
    for each in _BASES if asked is None else (asked,):
        found = engine.image(each)
        if found is not None and found.architecture == architecture:
            return each, False
    name = asked or _BASES[0]

    try:
        engine.pull(name, ecr_login(name), lambda line: click.echo(printable(line), err=True))
    except SmlocalError as error:
        raise DemoBaseMissingError(
            "the demo needs a base image, and there is none here" if asked is None else f"{name} is not here",
            details=[f"{name} cannot be pulled: {error.sentence}", *error.details],
            remedy=[
                "Name an image of this machine that has sh and awk: smlocal demo --base IMAGE",
                "The demo needs an image or a network. docker load reads an image from a file.",
            ],
        ) from error
    return name, True


def _write_files(folder: str, base: str, *, pulled: bool) -> None:
    """Write the files of the demo. Those that are there already stay as a person has changed them."""
    for each in _COPIED:
        path = os.path.join(folder, each)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            with open(os.path.join(_FILES, each), encoding="utf-8") as source:
                _write(path, source.read())
    _write(os.path.join(folder, "image", "Dockerfile"), _DOCKERFILE.format(base=base))
    if pulled:
        with open(os.path.join(folder, _PULLED), "a", encoding="utf-8") as file:
            file.write(f"{base}\n")


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _clean(engine: "Engine", folder: str) -> None:
    from smlocal.engine.interface import Resource, ResourceKind

    for name in filter(_JOB.fullmatch, matching_jobs(f"{_JOBS}*")):
        job_named(name).remove(stop=True, on_message=_say)
        _say(f"removed {name}")
    for image in (IMAGE, *_pulled(folder)):
        if engine.image(image) is not None:
            engine.remove(Resource(kind=ResourceKind.IMAGE, id=image))
            _say(f"removed the image {image}")
    if os.path.isdir(folder):
        remove_tree(folder)
        _say(f"removed {folder}")


def _pulled(folder: str) -> list[str]:
    try:
        with open(os.path.join(folder, _PULLED), encoding="utf-8") as file:
            return list(dict.fromkeys(file.read().split()))
    except FileNotFoundError:
        return []


def _say(*lines: str) -> None:
    for line in lines:
        click.echo(printable(line), err=True)

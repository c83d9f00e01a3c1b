"""`smlocal init`: write a job file to begin with."""

import os
import re
import shlex
from typing import TYPE_CHECKING

import click

from smlocal.api.image_name import is_image_name
from smlocal.cli.image_build import folder_image
from smlocal.cli.new_file import check_new_file, write_new_file
from smlocal.cli.request_names import KIND_WORDS, TRAINING_WORD
from smlocal.cli.shown_help import shown_command
from smlocal.errors import ImageNameError, InitSourceError
from smlocal.jobs.kind import module_of
from smlocal.sagemaker.jobfile.new_file import CODE_ENDINGS, BuiltImage, NewJobFile

if TYPE_CHECKING:
    from smlocal.jobs.kind import Kind

_DEFAULT_IMAGE = "my-image:latest"
_FILE_OPTION = "--file"
_PARTS = ("train", "training", "validation", "valid", "val", "eval", "test", "testing")
"""Folders with such names are channels of these names: each part of the data has its own."""
_PROGRAM_FOLDERS = (".", "code", "src", "image")
_TRAINS = ("train", "train.py")
_RECORDS = ("request.csv", "requests.csv", "records.csv", "input.csv", "test.csv")
_MOST_PROGRAMS = 50
_LARGEST = 1 << 20


@shown_command(
    "init",
    examples=(
        ("smlocal init my-image", "Write job.yaml for an image."),
        ("smlocal init . --file train.yaml", "Write a job file for the Dockerfile here."),
        ("smlocal init my-image --kind tuning", "Write tuning.yaml, which searches for the best hyperparameters."),
    ),
)
@click.argument("source", required=False, metavar="[SOURCE]")
@click.option(
    "--kind",
    "word",
    type=click.Choice(KIND_WORDS),
    default=TRAINING_WORD,
    show_default=True,
    help="Kind of the new file.",
)
@click.option(
    "--file",
    type=click.Path(readable=False),
    metavar="FILE",
    help='File to write; "-" is standard output. Default: by kind, such as job.yaml or tuning.yaml.',
)
def command(*, source: str | None, word: str, file: str | None) -> None:
    """Write a commented job file that smlocal run can run.

    SOURCE is an image, a folder with a Dockerfile, or a JSON file with the description of a job: the answer of
    DescribeTrainingJob, or what gcloud prints of a job of replicas. Default: the current folder. Folders with data
    next to the new file (data, train, data/validation, …) become channels. Existing files are never overwritten.
    """
    from smlocal.api.kinds_of_files import kind_worded

    kind = kind_worded(word)
    file = file or kind.file
    check_new_file(file, _FILE_OPTION)
    commands = [kind.start_command(_quoted(file))]
    if source is None or os.path.isdir(source):
        text, commands = _from_folder(source, file, kind)
    elif source.endswith(".json") or os.path.isfile(source):
        if word != TRAINING_WORD:
            raise click.UsageError(f"--kind {word} cannot be combined with the description of a job.")
        text = _from_answer(source, file)
        commands = [f"smlocal validate {_quoted(file)}", *commands]
    elif os.path.exists(source):
        raise InitSourceError(
            f"{source} is not a folder or a regular file",
            remedy=["Name an image, a folder with a Dockerfile, or a JSON file: smlocal init --help"],
        )
    else:
        text = _from_image(source, file, kind)
    write_new_file(file, text, _FILE_OPTION)
    if file == "-":
        return
    for command in commands:
        click.echo(f"  {command}", err=True)


def _from_folder(folder: str | None, file: str, kind: "Kind") -> tuple[str, list[str]]:
    """The text, and the commands that build the image and run the job."""
    start = kind.start_command(_quoted(file))
    built = dockerfile_facts(folder or ".")
    if built is None:
        if folder is not None:
            raise InitSourceError(
                f"the folder {folder} has no Dockerfile that can be read",
                remedy=["Name a folder with a Dockerfile, or an image: smlocal init IMAGE"],
            )
        return _text(kind, _DEFAULT_IMAGE, file), [start]
    image = folder_image(folder or ".")
    from smlocal.engine.client import place_here  # only here: `init` needs no engine

    there, context = place_here(), _quoted(folder or ".")
    if there is None:
        commands = [f"docker build --tag {image} {context}", start]
    elif kind.has_workload and kind.started_by == "run":
        commands = [f"{start} --build {context}"]  # there may be no docker command
    else:
        commands = [f"DOCKER_BUILDKIT=0 docker build --network {there.network} --tag {image} {context}", start]
    return _text(kind, image, file, built=built, folder=folder or "."), commands


def _from_image(image: str, file: str, kind: "Kind") -> str:
    if not is_image_name(image):
        raise ImageNameError(
            f"{image!r} is not a valid image name",
            details=["It is not a folder or a file either."],
            remedy=["Write [registry/]repository[:tag][@digest], with the repository in lower case."],
        )
    return _text(kind, image, file)


def _text(kind: "Kind", image: str, file: str, *, built: BuiltImage | None = None, folder: str = ".") -> str:
    """The new file's text. `folder`: that of the image's Dockerfile."""
    beside = os.path.dirname(file)
    programs = {each: _programs(os.path.join(beside, each)) for each in _PROGRAM_FOLDERS}
    places = [os.path.join(beside, each, name) for each, names in programs.items() for name in names]
    places += [os.path.join(folder, name) for name in _programs(folder)]
    asked = NewJobFile(
        file=file,
        image=image,
        built=built,
        data=_data_folders(file),
        records=next((f"./{each}" for each in _RECORDS if os.path.isfile(os.path.join(beside, each))), ""),
        programs={each: names for each, names in programs.items() if names},
        texts=[*map(_small_text, sorted(dict.fromkeys(places), key=_trains, reverse=True)[:_MOST_PROGRAMS])],
    )
    text: str = module_of(kind.name, "new_file").text(asked)
    return text


def _programs(folder: str) -> list[str]:
    """The names of programs in a folder."""
    try:
        return sorted(each for each in os.listdir(folder) if each.endswith(".py") or each in _TRAINS)
    except OSError:
        return []


def _trains(path: str) -> bool:
    return os.path.basename(path) in _TRAINS


def _small_text(path: str) -> str:
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _from_answer(path: str, file: str) -> str:
    from smlocal.api.job_files import REPLICAS, replica_job_text, replica_kind
    from smlocal.service.described_job import described_job, read_answer
    from smlocal.service.job_file_text import check_local_paths, job_file_text

    document = read_answer(path)
    if REPLICAS.describes(document.data):
        text = replica_job_text(document, file=file)
        if text is None:
            raise InitSourceError(
                f"{document.name} is the job file of a {replica_kind(document.data)} already",
                remedy=[f"Run it:  smlocal run {_quoted(document.name)}"],
            )
        return text
    job = described_job(document.data, name=document.name)
    check_local_paths(job, name=document.name)
    return job_file_text(job, file=file)


def _data_folders(file: str) -> dict[str, str]:
    """The channels, and the folder next to the new file that each has; none where there is no data.

    `data/train` comes before `train`. All of `data` is one channel if it has no such folder.
    """
    beside = os.path.dirname(file)
    parts = {name: f"./data/{name}" for name in _PARTS if _has_data(os.path.join(beside, "data", name))}
    own = {name: f"./{name}" for name in _PARTS if _has_data(os.path.join(beside, name))}
    if own.keys() <= {"test", "testing"}:  # more likely what tests the code
        own = {}
    if not parts and not own and _has_entries(os.path.join(beside, "data")):
        return {"training": "./data"}
    return {**own, **parts}


def _has_data(folder: str) -> bool:
    """True for a folder with anything in it, unless there is code at its top."""
    return _has_entries(folder) and not any(each.endswith(CODE_ENDINGS) for each in os.listdir(folder))


def _has_entries(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def _quoted(text: str) -> str:
    return shlex.quote(text)


def dockerfile_facts(folder: str) -> BuiltImage | None:
    """Of the Dockerfile in a folder; None if there is none that can be read."""
    from smlocal.check.places import stages

    try:
        with open(os.path.join(folder, "Dockerfile"), encoding="utf-8", errors="replace") as file:
            text = file.read(_LARGEST)
    except OSError:
        return None
    last = stages(text)[-1:]
    entrypoint, toolkit, program = "", False, ""
    for each in last[0] if last else ():
        if each.word == "ENTRYPOINT":
            entrypoint = each.text
        elif each.word == "RUN":
            toolkit = toolkit or bool(re.search(r"\bsagemaker[-_]training\b", each.text))
        elif each.word == "ENV" and (found := re.search(r"\bSAGEMAKER_PROGRAM[= ]\s*(\S+)", each.text)):
            program = found[1].strip("\"'")
    return BuiltImage(entrypoint=entrypoint, toolkit=toolkit, program=program)

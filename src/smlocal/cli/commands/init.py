"""`smlocal init`: write a job file to begin with."""

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping

import click

from smlocal.api.image_name import is_image_name
from smlocal.base.quick_dataclass import dataclass
from smlocal.cli.image_build import folder_image
from smlocal.cli.new_file import check_new_file, write_new_file
from smlocal.cli.shown_help import shown_command
from smlocal.errors import ImageNameError, InitSourceError

_DEFAULT_IMAGE = "my-image:latest"
_FILE_OPTION = "--file"
_HEAD = """\
# A CreateTrainingJob request. Run it here:  smlocal run {file}
# Check it without running it:  smlocal validate {file}      See what a run would do:  smlocal plan {file}
# To submit it to SageMaker, give TrainingJobName and RoleArn, an image in ECR, and s3:// locations for local paths.
"""
_CHANNELS_HEAD = "InputDataConfig: # the container finds each channel in /opt/ml/input/data/NAME\n"
_CHANNEL = """\
  - ChannelName: {name}
    DataSource:
      S3DataSource:
        S3DataType: S3Prefix
        S3Uri: {data} # a folder, a file or an s3:// location
"""
_PARTS = ("train", "training", "validation", "valid", "val", "eval", "test", "testing")
"""Folders with such names are channels of these names: each part of the data has its own."""
_CODE = (".py", ".ipynb", ".sh")
_LARGEST = 1 << 20


@shown_command(
    "init",
    examples=(
        ("smlocal init my-image", "Write job.yaml for an image."),
        ("smlocal init . --file train.yaml", "Write a job file for the Dockerfile here."),
    ),
)
@click.argument("source", required=False, metavar="[SOURCE]")
@click.option(
    "--file",
    type=click.Path(readable=False),
    metavar="FILE",
    default="job.yaml",
    help='Job file to write; "-" is standard output. Default: job.yaml.',
)
def command(*, source: str | None, file: str) -> None:
    """Write a commented job file that smlocal run can run.

    SOURCE is an image, a folder with a Dockerfile, or a JSON file with the description of a job: the answer of
    DescribeTrainingJob, or what gcloud prints of a job of replicas. Default: the current folder. Folders with data
    next to the new file (data, train, data/validation, …) become channels. Existing files are never overwritten.
    """
    check_new_file(file, _FILE_OPTION)
    steps: list[str] = []
    if source is None or os.path.isdir(source):
        text = _from_folder(source, file, steps)
    elif source.endswith(".json") or os.path.isfile(source):
        text = _from_answer(source, file)
        steps.append(f"smlocal validate {_quoted(file)}")
    elif os.path.exists(source):
        raise InitSourceError(
            f"{source} is not a folder or a regular file",
            remedy=["Name an image, a folder with a Dockerfile, or a JSON file: smlocal init --help"],
        )
    else:
        text = _from_image(source, file)
    write_new_file(file, text, _FILE_OPTION)
    if file == "-":
        return
    for step in (*steps, f"smlocal run {_quoted(file)}"):
        click.echo(f"  {step}", err=True)


def _from_folder(folder: str | None, file: str, steps: list[str]) -> str:
    built = dockerfile_facts(folder or ".")
    if built is None:
        if folder is not None:
            raise InitSourceError(
                f"the folder {folder} has no Dockerfile that can be read",
                remedy=["Name a folder with a Dockerfile, or an image: smlocal init IMAGE"],
            )
        return commented_job(_DEFAULT_IMAGE, file=file, data=_data_folders(file), built=None)
    image = folder_image(folder or ".")
    steps.append(f"docker build --tag {image} {_quoted(folder or '.')}")
    return commented_job(image, file=file, data=_data_folders(file), built=built)


def _from_image(image: str, file: str) -> str:
    if not is_image_name(image):
        raise ImageNameError(
            f"{image!r} is not a valid image name",
            details=["It is not a folder or a file either."],
            remedy=["Write [registry/]repository[:tag][@digest], with the repository in lower case."],
        )
    return commented_job(image, file=file, data=_data_folders(file), built=None)


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
    return _has_entries(folder) and not any(each.endswith(_CODE) for each in os.listdir(folder))


def _has_entries(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def _quoted(text: str) -> str:
    return shlex.quote(text)


@dataclass(frozen=True, kw_only=True, slots=True)
class DockerfileFacts:
    """What a Dockerfile says about how a training job starts."""

    entrypoint: str
    """As it is written; empty without one, which may still be in the base image."""
    toolkit: bool
    """True if it installs sagemaker-training."""
    program: str
    """SAGEMAKER_PROGRAM; empty if it is not set."""


def dockerfile_facts(folder: str) -> DockerfileFacts | None:
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
    return DockerfileFacts(entrypoint=entrypoint, toolkit=toolkit, program=program)


def commented_job(image: str, *, file: str, data: Mapping[str, str], built: DockerfileFacts | None) -> str:
    """A job of one host with an image, and a channel for each folder with data."""
    request = "".join(
        (
            "AlgorithmSpecification:\n",
            *(f"  # {line}\n" for line in _start(built)),
            f"  TrainingImage: {json.dumps(image)}\n",
            "  TrainingInputMode: File # or FastFile, Pipe\n",
            *_hyperparameters(built),
        )
    )
    shown = data or {"training": "./data"}
    channels = _CHANNELS_HEAD + "".join(
        _CHANNEL.format(name=name, data=json.dumps(folder)) for name, folder in shown.items()
    )
    if not data:
        channels = "".join(f"# {line}\n" for line in channels.splitlines())
    return f"""\
{_HEAD.format(file=_comment(file))}
# TrainingJobName: my-job # default: a name made from this file's name and the time
# RoleArn: arn:aws:iam::123456789012:role/SageMakerRole
{request}{channels}OutputDataConfig:
  S3OutputPath: ./smlocal-output # what the container leaves in /opt/ml/model becomes model.tar.gz here
ResourceConfig:
  InstanceType: ml.m5.large
  InstanceCount: 1
  VolumeSizeInGB: 30
StoppingCondition:
  MaxRuntimeInSeconds: 3600
# Local: # settings of this machine, which the service does not know
#   EnforceInstanceLimits: true # as much memory and as many processors as the instance type has
"""


def _start(built: DockerfileFacts | None) -> Iterator[str]:
    if built is None or not (built.entrypoint or built.toolkit):
        yield "The container is started as `docker run IMAGE train`: it needs a program `train`, or an ENTRYPOINT."
    elif built.entrypoint and not built.entrypoint.startswith("["):
        yield "ENTRYPOINT is in shell form: the program never gets the argument train. Write it as a JSON list:"
        yield _comment(built.entrypoint)
    elif built.entrypoint:
        yield f"The container runs its ENTRYPOINT with the argument train: {_comment(built.entrypoint)}"
    else:
        yield "The SageMaker training toolkit is in this image: it provides `train`, which starts a script of yours."


def _hyperparameters(built: DockerfileFacts | None) -> Iterator[str]:
    yield '# HyperParameters: # strings, in /opt/ml/input/config/hyperparameters.json\n#   epochs: "3"\n'
    if built is None or not built.toolkit:
        return
    if built.program:
        yield f"# The toolkit starts {_comment(built.program)} (SAGEMAKER_PROGRAM) from /opt/ml/code.\n"
    else:
        yield "# The toolkit needs the name of your script: SAGEMAKER_PROGRAM in the image, or a hyperparameter:\n"
        yield "#   sagemaker_program: '\"train.py\"'\n"
        yield "# Local.Code: ./src puts your folder in /opt/ml/code.\n"


def _comment(text: str) -> str:
    """In one line, without characters that a YAML file cannot have."""
    return "".join(character if character.isprintable() else "?" for character in text)

"""The text of a new job file: commented, and complete enough to run as it is."""

import json
import os
import re
from collections.abc import Iterator

from smlocal.quick_dataclass import dataclass

_HEAD = """\
# A CreateTrainingJob request. Run it here:  smlocal run {file}
# Check it without running it:  smlocal validate {file}      See what a run would do:  smlocal plan {file}
# To submit it to SageMaker, give TrainingJobName and RoleArn, an image in ECR, and s3:// locations for local paths.
"""
_CHANNELS = """\
InputDataConfig: # the container finds each channel in /opt/ml/input/data/NAME
  - ChannelName: training
    DataSource:
      S3DataSource:
        S3DataType: S3Prefix
        S3Uri: {data} # a folder, a file or an s3:// location
"""
_LARGEST = 1 << 20


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


def commented_job(image: str, *, file: str, data: str | None, built: DockerfileFacts | None) -> str:
    """A job of one host with an image, and a channel if there is data for it."""
    request = "".join(
        (
            "AlgorithmSpecification:\n",
            *(f"  # {line}\n" for line in _start(built)),
            f"  TrainingImage: {json.dumps(image)}\n",
            "  TrainingInputMode: File # or FastFile, Pipe\n",
            *_hyperparameters(built),
        )
    )
    channels = _CHANNELS.format(data=json.dumps(data or "./data"))
    if data is None:
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

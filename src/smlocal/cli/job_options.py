"""The job on the command line: a file, flags, or a file with flags that override it."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document
    from smlocal.jobfile.job_file import JobFile

DEFAULT_INSTANCE_TYPE = "ml.m5.large"
_LARGEST = 10 << 20
"""Bytes of a job file."""


def job_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add everything that describes a job to a command."""
    options = (
        click.argument("job", required=False, type=click.Path(), metavar="[JOB]"),
        click.option("--image", metavar="IMAGE", help="Training image."),
        click.option("--channel", "channels", multiple=True, metavar="NAME=PATH", help="Input channel; repeatable."),
        click.option(
            "--hyperparameter", "-p", "hyperparameters", multiple=True, metavar="KEY=VALUE", help="Repeatable."
        ),
        click.option(
            "--env",
            "-e",
            "environment",
            multiple=True,
            metavar="KEY[=VALUE]",
            help="Environment; KEY alone takes the value from yours. Repeatable.",
        ),
        click.option(
            "--env-file",
            "env_files",
            multiple=True,
            metavar="FILE",
            help="File of KEY=VALUE lines, as docker reads it; repeatable.",
        ),
        click.option("--output", "-o", metavar="DIR", help="Where artifacts go: DIR/<job>/output/model.tar.gz."),
        click.option("--name", metavar="NAME", help="Name of the job; else made of the file's name and the time."),
        click.option("--input-mode", metavar="MODE", help="TrainingInputMode."),
        click.option("--instance-type", metavar="TYPE", help=f"Else {DEFAULT_INSTANCE_TYPE}."),
        click.option("--instance-count", type=int, metavar="N", help="Number of hosts."),
        click.option("--max-run", type=int, metavar="SECONDS", help="StoppingCondition.MaxRuntimeInSeconds."),
        click.option("--role", metavar="ARN", help="RoleArn; recorded, unless --credentials role."),
        click.option(
            "--credentials",
            type=click.Choice(["none", "inherit", "role"]),
            help="AWS credentials of the containers; else none.",
        ),
        click.option(
            "--source",
            "sources",
            multiple=True,
            metavar="PREFIX=DIR",
            help="Local folder for an s3:// prefix; repeatable.",
        ),
        click.option("--code", metavar="DIR", help="Fills /opt/ml/code, copy-on-write."),
        click.option("--staging", type=click.Choice(["overlay", "copy"]), help="How channels get into the container."),
        click.option(
            "--publish", is_flag=True, help="Upload artifacts, and mirror checkpoints, to their s3:// locations."
        ),
        click.option(
            "--gpus", metavar="GPUS", help="auto, all, none, a number for each host, or ids such as device=0,2."
        ),
        click.option("--allow-cpu", is_flag=True, help="Run a GPU or Neuron instance type without them."),
        click.option("--strict", is_flag=True, help="Accept only what the service accepts."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def read_job_options(given: dict[str, Any]) -> tuple["JobFile", str]:
    """The validated job and its name."""
    from smlocal.jobfile.job_file import read_job

    strict = given["strict"]
    document = _document(given["job"], given)
    _apply(document, given)
    name = document.data.get("TrainingJobName")
    job = read_job(document, strict=strict)
    _check_image(document, job)
    return job, name or _default_name(given["job"], job)


def _check_image(document: "Document", job: "JobFile") -> None:
    """The service takes any text here, and no engine does."""
    from smlocal.cli.image_name import is_image_name

    specification = job.request.AlgorithmSpecification
    image = specification.TrainingImage if specification is not None else None
    if image is None or is_image_name(image):
        return
    from smlocal.errors import ImageNameError

    lower = image.rpartition("/")[2].partition(":")[0].lower()
    raise ImageNameError(
        f"{image!r} is no name of an image",
        details=[f"{document.where(('AlgorithmSpecification', 'TrainingImage'))}   TrainingImage: {image}"],
        remedy=[
            "[registry/]repository[:tag][@digest], the repository in lower case",
            *([f"Did you mean {image.lower()} ?"] if lower and is_image_name(image.lower()) else []),
        ],
    )


def _default_name(path: str | None, job: "JobFile") -> str:
    from datetime import datetime

    from smlocal.contract.identity import default_name

    specification = job.request.AlgorithmSpecification
    image = (specification.TrainingImage if specification is not None else None) or "job"
    stem = os.path.splitext(os.path.basename(path))[0] if path else image.rpartition("/")[2].partition(":")[0]
    if stem == "job" and path:
        # Most job files are called job.yaml: the folder says more.
        stem = os.path.basename(os.path.dirname(os.path.abspath(path))) or stem
    return default_name(stem, datetime.now().astimezone())


def _document(path: str | None, given: dict[str, Any]) -> "Document":
    from smlocal.jobfile.document import load_document

    if path is None:
        if not given["image"]:
            raise click.UsageError("Give a job file, or describe the job with --image and other flags.")
        return load_document("{}", name="command line", directory=os.getcwd())
    if path == "-":
        import sys

        text = _text(sys.stdin.buffer.read(_LARGEST + 1), "stdin")
        return load_document(text, name="stdin", directory=os.getcwd())
    return load_document(_text(_content(path), path), name=path, directory=os.path.dirname(os.path.abspath(path)))


def _content(path: str) -> bytes:
    """The beginning of a regular file; what has no end, or nobody at its other end, is not even opened."""
    import stat

    from smlocal.errors import JobFileMissingError

    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise JobFileMissingError(f"the job file {path} is a folder", remedy=["Name the file in it."])
        if not stat.S_ISREG(mode):
            raise JobFileMissingError(
                f"the job file {path} is not a regular file",
                remedy=["Write it to a file, or hand it over on stdin: ... | smlocal run -"],
            )
        with open(path, "rb") as file:
            return file.read(_LARGEST + 1)
    except FileNotFoundError as error:
        raise JobFileMissingError(f"the job file {path} does not exist", remedy=_similar(path)) from error
    except OSError as error:
        raise JobFileMissingError(f"the job file {path} cannot be read: {error.strerror}") from error


def _text(content: bytes, name: str) -> str:
    from smlocal.errors import JobFileSyntaxError

    if len(content) > _LARGEST:
        raise JobFileSyntaxError(f"{name} is too large to be a request: more than {_LARGEST >> 20} MiB")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise JobFileSyntaxError(
            f"{name} is not UTF-8 text",
            details=[f"{name}:{line}   the byte 0x{content[error.start]:02x} is not UTF-8"],
            remedy=["Save it as UTF-8."],
        ) from error


def _similar(path: str) -> list[str]:
    from difflib import get_close_matches

    folder = os.path.dirname(path) or "."
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    meant = get_close_matches(os.path.basename(path), names, n=1)
    return [f"Did you mean {os.path.join(os.path.dirname(path), meant[0])} ?"] if meant else []


_PLACES = {
    "image": ("AlgorithmSpecification", "TrainingImage"),
    "name": ("TrainingJobName",),
    "input_mode": ("AlgorithmSpecification", "TrainingInputMode"),
    "instance_type": ("ResourceConfig", "InstanceType"),
    "instance_count": ("ResourceConfig", "InstanceCount"),
    "max_run": ("StoppingCondition", "MaxRuntimeInSeconds"),
    "role": ("RoleArn",),
    "credentials": ("Local", "Credentials"),
    "staging": ("Local", "Staging"),
    "pull": ("Local", "Pull"),
}


def _apply(document: "Document", given: dict[str, Any]) -> None:
    """Let flags override the file; a job of flags alone gets what every request needs."""
    for option, place in _PLACES.items():
        if given.get(option) is not None:
            document.set(place, given[option])
    for flag, setting in (("allow_cpu", "AllowCpu"), ("publish", "Publish")):
        if given[flag]:
            document.set(("Local", setting), True)
    if given["gpus"] is not None:
        _apply_gpus(document, given)
    if given["code"] is not None:
        document.set(("Local", "Code"), _path(given["code"]))
    if given["output"] is not None:
        _apply_output(document, given["output"])
    _apply_maps(document, given)
    for name, path in _pairs(given["channels"], "--channel", "NAME=PATH"):
        _apply_channel(document, name, path)
    if given["job"] is None:
        _fill(document)


def _apply_gpus(document: "Document", given: dict[str, Any]) -> None:
    """A number of GPUs on the command line takes back what the file says about running without."""
    from smlocal.contract.gpus import read_gpus

    document.set(("Local", "Gpus"), read_gpus(given["gpus"]))
    local = document.data.get("Local")
    if not given["allow_cpu"] and isinstance(local, dict) and "AllowCpu" in local:
        document.set(("Local", "AllowCpu"), False)


def _apply_maps(document: "Document", given: dict[str, Any]) -> None:
    for key, value in _pairs(given["hyperparameters"], "--hyperparameter"):
        document.set(("HyperParameters", key), value)
    if given["environment"] or given["env_files"]:
        from smlocal.cli.environment_options import variables

        for key, value in variables(given["env_files"], given["environment"]):
            document.set(("Environment", key), value)
    for prefix, folder in _pairs(given["sources"], "--source", "PREFIX=DIR"):
        document.set(("Local", "Sources", prefix), _path(folder))


def _apply_output(document: "Document", output: str) -> None:
    """An output folder replaces a local path of the file, and is where an s3:// one goes."""
    asked = document.data.get("OutputDataConfig")
    uri = asked.get("S3OutputPath") if isinstance(asked, dict) else None
    remote = isinstance(uri, str) and uri.startswith(("s3://", "https://"))
    place = ("Local", "Output") if remote else ("OutputDataConfig", "S3OutputPath")
    document.set(place, _path(output))


def _apply_channel(document: "Document", name: str, path: str) -> None:
    channels = document.data.get("InputDataConfig")
    if not isinstance(channels, list):
        channels = []
        document.set(("InputDataConfig",), channels)
    index = next(
        (i for i, c in enumerate(channels) if isinstance(c, dict) and c.get("ChannelName") == name), len(channels)
    )
    if index == len(channels):
        channels.append({"ChannelName": name, "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix"}}})
    document.set(("InputDataConfig", index, "DataSource", "S3DataSource", "S3Uri"), _path(path))


def _path(given: str) -> str:
    """A path of a flag is relative to where the user is. A blank one stays so, and is refused as in a file."""
    return given if not given.strip() or "://" in given else os.path.abspath(given)


def _fill(document: "Document") -> None:
    for place, value in (
        (("AlgorithmSpecification", "TrainingInputMode"), "File"),
        (("ResourceConfig", "InstanceType"), DEFAULT_INSTANCE_TYPE),
        (("ResourceConfig", "InstanceCount"), 1),
        (("OutputDataConfig", "S3OutputPath"), os.path.abspath("smlocal-output")),
    ):
        section = document.data.get(place[0]) or {}
        if place[1] not in section:
            document.set(place, value)


def _pairs(given: tuple[str, ...], option: str, form: str = "KEY=VALUE") -> list[tuple[str, str]]:
    pairs = []
    for text in given:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise click.UsageError(f"{option} {text}: write {form}.")
        pairs.append((key, value))
    return pairs

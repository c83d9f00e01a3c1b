"""`smlocal init`: write a job file to begin with."""

import os
from typing import TYPE_CHECKING

import click

from smlocal.cli.new_file import check_new_file, write_new_file
from smlocal.errors import InitSourceError

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document

_DEFAULT_IMAGE = "my-image:latest"
_FILE_OPTION = "--file"


@click.command("init")
@click.argument("source", required=False, metavar="[SOURCE]")
@click.option(
    "--file",
    type=click.Path(readable=False),
    metavar="FILE",
    default="job.yaml",
    help='The new file; "-" is standard output. Default: job.yaml.',
)
def command(*, source: str | None, file: str) -> None:
    """Write a commented job file that smlocal run can run.

    SOURCE is an image, a folder with a Dockerfile, or a JSON file with the description of a job: the answer of
    DescribeTrainingJob, or what gcloud prints of a job of replicas. Default: the current folder. Existing files are
    never overwritten.
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
    from smlocal.cli.image_build import folder_image
    from smlocal.cli.new_job_file import commented_job, dockerfile_facts

    built = dockerfile_facts(folder or ".")
    if built is None:
        if folder is not None:
            raise InitSourceError(
                f"the folder {folder} has no Dockerfile that can be read",
                remedy=["Name a folder with a Dockerfile, or an image: smlocal init IMAGE"],
            )
        return commented_job(_DEFAULT_IMAGE, file=file, data=_data(file), built=None)
    image = folder_image(folder or ".")
    steps.append(f"docker build --tag {image} {_quoted(folder or '.')}")
    return commented_job(image, file=file, data=_data(file), built=built)


def _from_image(image: str, file: str) -> str:
    from smlocal.api.image_name import is_image_name
    from smlocal.cli.new_job_file import commented_job
    from smlocal.errors import ImageNameError

    if not is_image_name(image):
        raise ImageNameError(
            f"{image!r} is not a valid image name",
            details=["It is not a folder or a file either."],
            remedy=["Write [registry/]repository[:tag][@digest], with the repository in lower case."],
        )
    return commented_job(image, file=file, data=_data(file), built=None)


def _from_answer(path: str, file: str) -> str:
    from smlocal.platforms.job_files import is_replica_job
    from smlocal.remote.described_job import described_job, read_answer
    from smlocal.remote.job_file_text import check_local_paths, job_file_text

    document = read_answer(path)
    if is_replica_job(document.data):
        return _from_answer_of_replicas(document, file)
    job = described_job(document.data, name=document.name)
    check_local_paths(job, name=document.name)
    return job_file_text(job, file=file)


def _from_answer_of_replicas(document: "Document", file: str) -> str:
    from smlocal.platforms.job_files import replica_job_text, replica_kind

    text = replica_job_text(document, file=file)
    if text is None:
        raise InitSourceError(
            f"{document.name} is the job file of a {replica_kind(document.data)} already",
            remedy=[f"Run it:  smlocal run {_quoted(document.name)}"],
        )
    return text


def _data(file: str) -> str | None:
    """The folder `data` next to the new file, if there is anything in it."""
    folder = os.path.join(os.path.dirname(file), "data")
    try:
        return "./data" if os.listdir(folder) else None
    except OSError:
        return None


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)

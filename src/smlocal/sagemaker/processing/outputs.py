"""Where the outputs of a processing job go."""

from collections.abc import Iterator
from typing import Any

from smlocal.data.sources.local_path import cleaned, is_remote, local_path, longest_match
from smlocal.jobs.planning.aspects.mirrored.plan import CollectorPlan
from smlocal.jobs.planning.aspects.output.look import folder_at
from smlocal.sagemaker.processing.job_file import ProcessingFile, UploadedOutput
from smlocal.terms.checkpoints import within
from smlocal.terms.listing import s3_form

_MEMBER = "ProcessingOutputConfig"
_PREFIX = "output-"


def collectors_of(job: ProcessingFile, *, directory: str) -> tuple[CollectorPlan, ...]:
    """The folders that are uploaded. `directory`: the job's own folder for what no other folder stands for."""
    return tuple(_collector(job, output, directory) for output in job.outputs)


def publishes(job: ProcessingFile) -> bool:
    """True if anything is to be uploaded to S3."""
    return any(_published(job, output.uri) for output in job.outputs)


def _published(job: ProcessingFile, uri: str) -> bool:
    return job.local.Publish and s3_form(uri).startswith("s3://") and _folder(job, uri) is None


def _collector(job: ProcessingFile, output: UploadedOutput, directory: str) -> CollectorPlan:
    folder, remote = _folder(job, output.uri), s3_form(output.uri)
    return CollectorPlan(
        name=f"{_PREFIX}{output.name}",
        member=_MEMBER,
        uri=output.uri,
        directory=f"{directory}/{output.name}" if folder is None else folder,
        kept=folder is None,
        s3_prefix=f"{remote.rstrip('/')}/" if _published(job, output.uri) else None,
        local_path=output.path,
        grows=False,
        # Everything below /opt/ml/processing is one mount, but for the inputs.
        own_mount=any(within(output.path, each.path) for each in job.inputs if not each.pipe),
        continuous=output.continuous,
    )


def _folder(job: ProcessingFile, uri: str) -> str | None:
    """The folder of this machine that a URI names, or that stands for it; None if there is none."""
    directory, rights = job.document.directory, job.local.rights
    if not is_remote(uri):
        return folder_at(uri, directory, rights)
    match = longest_match(uri, job.local.Sources)
    rest = "" if match is None else match.rest.removesuffix("/")
    if match is None or (rest and any(name in {"", ".", ".."} for name in rest.split("/"))):
        return None
    return cleaned(local_path(match.value, directory, rights, rest))


def shown(collectors: tuple[CollectorPlan, ...]) -> Iterator[dict[str, Any]]:
    """As the `Local` block and the plan have them."""
    for each in collectors:
        yield {
            "Name": each.name.removeprefix(_PREFIX),
            "LocalPath": each.local_path,
            "S3Uri": each.uri,
            "S3UploadMode": "Continuous" if each.continuous else "EndOfJob",
            "Directory": each.directory,
            "Published": each.s3_prefix,
        }

"""The folder with the tensors of a job, or why there is none."""

import os

from smlocal.errors.tensors import NoDebugHookError, TensorsInS3Error, TensorsMissingError
from smlocal.job.documents import PLAN, REQUEST
from smlocal.job.job_words import spoken_of
from smlocal.platforms.sagemaker.name import NAME
from smlocal.platforms.sagemaker.tensor_place import DEBUG_HOOK, tensor_place
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store

_HOOK = "The script must create a hook of smdebug; docs/debugger.md says more."


def tensor_folder(name: str) -> str:
    """The folder that the tensors of a job are mirrored to; an error if it has none on this machine."""
    with Store.open(home_directory()) as store:
        stored = store.read(name, (REQUEST, PLAN))
        directory = store.directory(name)
    if not stored.documents[REQUEST].get(DEBUG_HOOK):
        says = spoken_of(stored.record)
        remedy = [_HOOK] if stored.record.platform == NAME else []
        raise NoDebugHookError(f"the job {name} {says.no_tensors}", remedy=remedy)
    place = tensor_place(stored.documents.get(PLAN) or {}, directory)
    if place is None:
        raise TensorsMissingError(f"the job {name} has no tensors yet: it has not begun")
    if os.path.isdir(place.folder):
        return place.folder
    if place.s3_prefix is not None:
        raise TensorsInS3Error(
            f"the tensors of the job {name} are in S3",
            remedy=[f"aws s3 sync {place.s3_prefix} ./tensors", "smlocal tensors ./tensors"],
        )
    raise TensorsMissingError(
        f"the job {name} has no tensors{'' if stored.record.status.terminal else ' yet'}",
        details=[f"There is no folder {place.folder}."],
        remedy=[_HOOK],
    )

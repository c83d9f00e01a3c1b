"""Where the model of an endpoint is, and how its archive is unpacked."""

import os
from collections.abc import Callable, Iterator
from typing import Final

from smlocal.base.foreign_archive.archive import ForeignArchive, unpack
from smlocal.base.foreign_archive.stream import opened, pieces_of
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.local_path import is_remote, local_path, longest_match
from smlocal.errors.hosting import ModelMissingError, ModelUnmappedError
from smlocal.jobs.contract.validation.violation import Path
from smlocal.sagemaker.hosting.model_file import ModelFile

_MOST_PATHS: Final = 1_000_000
"""Files and folders of one archive."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelData:
    """The model of one container on this machine."""

    uri: str
    """As written in the request; empty: there is none."""
    archive: str = ""
    """An archive that is to be unpacked."""
    folder: str = ""
    """A folder that is mounted as it is."""


def find_model(model: ModelFile) -> ModelData:
    """Look for it; what is not there is an error."""
    container = model.variants[0].model.containers[0].definition
    at: Path = model.variants[0].model.containers[0].at
    if container.ModelDataUrl:
        uri, where = container.ModelDataUrl, (*at, "ModelDataUrl")
        return ModelData(uri=uri, archive=_file(model, _here(model, uri, where), where))
    source = None if container.ModelDataSource is None else container.ModelDataSource.S3DataSource
    if source is None:
        return ModelData(uri="")
    uri, where = source.S3Uri, (*at, "ModelDataSource", "S3DataSource", "S3Uri")
    path = _here(model, uri, where)
    if source.CompressionType == "Gzip":
        return ModelData(uri=uri, archive=_file(model, path, where))
    if not os.path.isdir(path):
        raise _missing(model, f"the folder of the model does not exist: {path}", where)
    return ModelData(uri=uri, folder=os.path.realpath(path))


def _here(model: ModelFile, uri: str, where: Path) -> str:
    directory, local = model.document.directory, model.local
    if not is_remote(uri):
        return os.path.abspath(local_path(uri, directory, local.rights))
    match = longest_match(uri, local.Sources)
    if match is None:
        raise ModelUnmappedError(
            f"the model {uri} is not on this machine",
            details=[f"{model.document.where(where)}   {'.'.join(map(str, where))}"],
            remedy=[
                f"Copy it here: aws s3 cp {uri} model.tar.gz, and deploy that file; or",
                "map the bucket to a folder: Local.Sources in the model file.",
            ],
        )
    return os.path.abspath(local_path(match.value, directory, local.rights, match.rest))


def _file(model: ModelFile, path: str, where: Path) -> str:
    if not os.path.isfile(path):
        raise _missing(model, f"the archive of the model does not exist: {path}", where)
    return path


def _missing(model: ModelFile, sentence: str, where: Path) -> ModelMissingError:
    return ModelMissingError(
        sentence,
        details=[f"{model.document.where(where)}   {'.'.join(map(str, where))}"],
        remedy=["Correct the path, or leave the model out if the image has it."],
    )


def unpack_model(archive: str, folder: str, *, check: Callable[[], None]) -> None:
    """Unpack into a new folder; `ArchiveError` or `OSError` if that is not possible. `check` may raise at any time."""
    os.makedirs(folder, mode=0o755)
    with opened(archive) as file:
        unpack(ForeignArchive(_checked(pieces_of(file), check)), folder, most_paths=_MOST_PATHS)


def _checked(pieces: Iterator[bytes], check: Callable[[], None]) -> Iterator[bytes]:
    for piece in pieces:
        check()
        yield piece

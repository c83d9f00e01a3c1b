"""Where the models of a container are, and how they get into folders: unpacked, downloaded, or as they are."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from smlocal.base.at_use import at_use
from smlocal.base.files import free_bytes
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.channels.copy import UNSURE_SIZES, file_system_at, link_tree
from smlocal.data.sources.local_path import is_remote, local_path, longest_match
from smlocal.errors import CredentialsMissingError, SourceEmptyError
from smlocal.errors.of_jobs import DiskTooSmallError, ModelMissingError, ModelUnmappedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.serving.plan import ModelForm, ModelPlan
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.model.hosting import ContainerDefinition, S3ModelDataSource
from smlocal.sagemaker.serving.variants import is_job_name
from smlocal.terms.channels import TreePlan
from smlocal.terms.listing import Listing
from smlocal.terms.rights import Rights
from smlocal.terms.validation.violation import Path

if TYPE_CHECKING:
    from smlocal.base.foreign_archive import archive as foreign
    from smlocal.base.foreign_archive.stream import least_unpacked, opened, pieces_of
    from smlocal.base.readable import readable_bytes
    from smlocal.data.sources.local_listing import list_folder
    from smlocal.data.sources.s3.client import open_store
    from smlocal.data.sources.s3.interface import ObjectStore
    from smlocal.data.sources.s3_listing import list_object, list_prefix
    from smlocal.data.sources.source_errors import Caller, RequestedSource
else:  # most models are folders or archives of this machine
    foreign = at_use("smlocal.base.foreign_archive.archive")
    least_unpacked = at_use("smlocal.base.foreign_archive.stream", "least_unpacked")
    readable_bytes = at_use("smlocal.base.readable", "readable_bytes")
    opened = at_use("smlocal.base.foreign_archive.stream", "opened")
    pieces_of = at_use("smlocal.base.foreign_archive.stream", "pieces_of")
    list_folder = at_use("smlocal.data.sources.local_listing", "list_folder")
    open_store = at_use("smlocal.data.sources.s3.client", "open_store")
    list_object = at_use("smlocal.data.sources.s3_listing", "list_object")
    list_prefix = at_use("smlocal.data.sources.s3_listing", "list_prefix")
    Caller = at_use("smlocal.data.sources.source_errors", "Caller")
    RequestedSource = at_use("smlocal.data.sources.source_errors", "RequestedSource")

ADDITIONAL: Final = "/opt/ml/additional-model-data-sources"
"""The folder with those of AdditionalModelDataSources, by their names (seen, and in the constants of the SDK)."""
_MODEL: Final = "model"
_NOT_NAMES: Final = frozenset({"", ".", ".."})
_CONNECT_SECONDS: Final = 3.0
"""To connect to S3: a wrong endpoint should be reported soon."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSearch:
    """Looks for the models of the containers of one document."""

    document: Document
    local: LocalSettings
    region: str
    role: str

    def models(self, container: ContainerDefinition, at: Path) -> tuple[ModelPlan, ...]:
        """All of one container, which is at this place of the document. What is not there is an error."""
        return tuple(self._models(container, at))

    def _models(self, container: ContainerDefinition, at: Path) -> Iterator[ModelPlan]:
        if container.ModelDataUrl:
            yield self._found(_MODEL, paths.MODEL, container.ModelDataUrl, "archive", (*at, "ModelDataUrl"))
        elif container.ModelDataSource is not None and container.ModelDataSource.S3DataSource is not None:
            where: Path = (*at, "ModelDataSource")
            yield self._of_source(_MODEL, paths.MODEL, container.ModelDataSource.S3DataSource, where)
        for index, each in enumerate(container.AdditionalModelDataSources or ()):
            where = (*at, "AdditionalModelDataSources", index)
            name = each.ChannelName
            yield self._of_source(f"additional-{name}", f"{ADDITIONAL}/{name}", each.S3DataSource, where)

    def _of_source(self, name: str, target: str, source: S3ModelDataSource, at: Path) -> ModelPlan:
        form: ModelForm = "folder" if source.S3DataType == "S3Prefix" else "object"
        if source.CompressionType == "Gzip":
            form = "archive"
        return self._found(name, target, source.S3Uri, form, (*at, "S3DataSource", "S3Uri"))

    def _found(self, name: str, target: str, uri: str, form: ModelForm, at: Path) -> ModelPlan:
        path = self._path(uri, at)
        if path is None:
            self._look_in_s3(uri, form, at)
        elif form == "folder":
            if not os.path.isdir(path):
                raise self._missing(f"the folder of the model does not exist: {path}", at)
            path = os.path.realpath(path)
        elif not os.path.isfile(path):
            what = "archive" if form == "archive" else "file"
            if form == "archive" and is_job_name(uri):
                from smlocal.sagemaker.serving.model_of_job import no_model_named

                raise no_model_named(self.document, at, uri)
            raise self._missing(f"the {what} of the model does not exist: {path}", at)
        return ModelPlan(name=name, uri=uri, target=target, form=form, path=path or "")

    def _path(self, uri: str, at: Path) -> str | None:
        """Its place on this machine; None if it has none."""
        directory, local = self.document.directory, self.local
        if not is_remote(uri):
            return os.path.abspath(local_path(uri, directory, local.rights))
        match = longest_match(uri, local.Sources)
        if match is not None:
            if any(name in _NOT_NAMES for name in match.rest.rstrip("/").split("/") if match.rest):
                raise self._missing(f"there is no model at {uri}: no file below {match.value} can have this key", at)
            return os.path.abspath(local_path(match.value, directory, local.rights, match.rest))
        if not uri.startswith("s3://"):
            raise self._missing(f"the model {uri} is neither a path nor in S3", at)
        return None

    def _look_in_s3(self, uri: str, form: ModelForm, at: Path) -> None:
        """Refuse a model that is not there now: the service would say so after minutes."""
        try:
            list_in_s3(uri, form, region=self.region, role=self.role, rights=self.local.rights, where=self._where(at))
        except SourceEmptyError as error:
            raise self._missing(f"there is no model at {uri}: {error.sentence}", at) from error
        except CredentialsMissingError as error:
            raise ModelUnmappedError(
                f"the model {uri} is not on this machine, and cannot be downloaded",
                details=[self._line(at), error.sentence, *error.details],
                remedy=[
                    *error.remedy,
                    f"Or copy it here: aws s3 cp {uri} model.tar.gz, and deploy that file; or",
                    "map the bucket to a folder: Local.Sources in the model file.",
                ],
            ) from error

    def _missing(self, sentence: str, at: Path) -> ModelMissingError:
        return ModelMissingError(
            sentence,
            details=[self._line(at)],
            remedy=["Correct the path, or leave the model out if the image has it."],
        )

    def _line(self, at: Path) -> str:
        return f"{self._where(at)}   {'.'.join(map(str, at))}"

    def _where(self, at: Path) -> str:
        return self.document.where(at)


def list_in_s3(
    uri: str, form: ModelForm, *, region: str, role: str, rights: Rights, where: str | None = None
) -> Listing:
    """The objects of a model in S3. Errors are those of a channel."""
    store: ObjectStore = open_store(region, rights=rights, connect_seconds=_CONNECT_SECONDS)
    asked = RequestedSource(subject="the model", member="S3Uri", uri=uri, where=where, directory="", rights=rights)
    caller = Caller(region=region, role=role)
    if form == "folder":
        return list_prefix(asked, mode="File", caller=caller, store=store)
    return list_object(asked, caller=caller, store=store)


def local_files(
    model: ModelPlan, *, list_remote: Callable[[], Listing], download: Callable[[TreePlan], Listing]
) -> Listing:
    """The files of a model on this machine. A model in S3 is downloaded; `StagingError` if that fails."""
    if model.path and model.form == "folder":  # the engine cannot mount it
        return list_folder(model.path, subject="the model", member="S3Uri", directory="/")
    return _local_listing(model.path) if model.path else download(_tree(model, list_remote()))


def fill_folder(model: ModelPlan, listing: Listing, *, check: Callable[[], None]) -> None:
    """Unpack or link the files into the folder of the model, which does not exist yet. `check` may raise at any time.

    `ArchiveError` or `OSError` if they cannot be unpacked or copied.
    """
    os.makedirs(os.path.dirname(model.folder), exist_ok=True)
    if model.form == "archive":
        unpack_model(listing.file(0), model.folder, check=check)
    else:
        link_tree(listing, model.folder, check=check)


def mounted(model: ModelPlan) -> TreePlan:
    """The folder of a model as one of a container's mounts."""
    listing = Listing(
        root=model.folder, bucket_uri="file:///", prefix="", key_base="", paths=(), total_bytes=None, whole_tree=True
    )
    return _tree(model, listing)


def _tree(model: ModelPlan, listing: Listing) -> TreePlan:
    return TreePlan(
        name=model.name,
        uri=model.uri,
        target=model.target,
        listing=listing,
        staging="bind",
        reason=None,
        mode="Unpacked" if model.is_brought else "FileSystem",
        writable=model.writable,
    )


def _local_listing(path: str) -> Listing:
    folder, name = os.path.split(path)
    return Listing(
        root=folder,
        bucket_uri="file:///",
        prefix="",
        key_base="",
        paths=(name,),
        total_bytes=None,
        whole_tree=False,
    )


def unpack_model(archive: str, folder: str, *, check: Callable[[], None]) -> None:
    """Unpack into a new folder; `ArchiveError` or `OSError` if that is not possible. `check` may raise at any time."""
    os.makedirs(folder, mode=0o755)
    check_room([archive], folder)
    with opened(archive) as file:
        pieces = _checked(pieces_of(file), check)
        foreign.unpack(foreign.ForeignArchive(pieces), folder, most_paths=foreign.ARTIFACT.members, check=check)


def check_room(archives: Sequence[str], folder: str) -> None:
    """Refuse archives that are larger than the free space, as far as their size is known before they are unpacked."""
    free, size = free_bytes(folder), sum(map(least_unpacked, archives))
    if not free or size <= free or file_system_at(folder) in UNSURE_SIZES:
        return
    what = f"the model {archives[0]} has" if len(archives) == 1 else f"the {len(archives)} models have"
    raise DiskTooSmallError(
        f"{what} at least {readable_bytes(size)} unpacked, and {readable_bytes(free)} are free at {folder}",
        remedy=[
            "Free some space there:  smlocal rm, smlocal cache rm",
            "or set SMLOCAL_HOME to a folder on a larger disk.",
        ],
    )


def _checked(pieces: Iterator[bytes], check: Callable[[], None]) -> Iterator[bytes]:
    for piece in pieces:
        check()
        yield piece

"""A job file as a request of the service, and the local data that has to be in S3 before."""

import gzip
import json
import os
import re
import stat
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources import local_listing
from smlocal.data.sources.local_path import is_remote, longest_match
from smlocal.data.sources.manifest_json import ManifestError, manifest_strings
from smlocal.data.sources.source_errors import Caller, RequestedSource
from smlocal.errors import RequestInvalidError
from smlocal.errors.of_commands import UploadManifestError, UploadPrefixError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.identity import plain_names
from smlocal.sagemaker.kinds import PROCESSING
from smlocal.service.job_kind import kind_of
from smlocal.service.submit_checks import local_settings, other_region, outputs_here, strict_request
from smlocal.service.uploads import Upload, changed, plan_upload
from smlocal.terms.listing import Listing
from smlocal.terms.validation.violation import Path

_BUCKET = r"(?:[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|arn:[^/]+accesspoint[:/][^/]+)"
_LOCATION = re.compile(rf"s3://{_BUCKET}(?:/[^\0]*)?")
_NOT_YET = "0000000000000000"
"""In place of the name that the content gives."""
_ANY_PLACE = "s3://bucket/"
_CODE_CHANNEL = "code"


CODE_ARCHIVE = "sourcedir.tar.gz"
CODE_PARAMETER = "sagemaker_submit_directory"
_NOT_PACKED = {".git", "__pycache__"}
_MODE, _RUNNABLE_MODE = 0o644, 0o755


def pack_code(code: Listing, folder: str) -> Listing:
    """Write the archive into a folder; returns the listing of that one file."""
    path = os.path.join(folder, CODE_ARCHIVE)
    paths = [each for each in code.paths if not _NOT_PACKED & {*each.split("/")[:-1]}]
    with (
        open(path, "wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for each in paths:
            with open(f"{code.root}/{each}", "rb") as file:
                status = os.fstat(file.fileno())
                member = tarfile.TarInfo(each)
                member.size = status.st_size
                member.mode = _RUNNABLE_MODE if status.st_mode & stat.S_IXUSR else _MODE
                tar.addfile(member, file)
    return replace(
        code,
        root=folder,
        bucket_uri="file:///",
        prefix=CODE_ARCHIVE,
        key_base="",
        paths=(CODE_ARCHIVE,),
        total_bytes=os.path.getsize(path),
        whole_tree=False,
        directories=(),
    )


_IN_CODE_CHANNEL = f"/opt/ml/input/data/{_CODE_CHANNEL}/{CODE_ARCHIVE}"


@dataclass(frozen=True, kw_only=True, slots=True)
class SubmitOptions:
    """The command line's options beside the job file."""

    upload_to: str | None = None
    """`s3://bucket/prefix`."""
    upload_sources: bool = False
    """Upload the folders of `Local.Sources`, in place of the objects in S3 already."""
    code_given: bool = False
    """The code was named on the command line, and replaces code that the request has in S3."""
    region: str | None = None
    scratch: str = ""
    """A folder for the archive of the code."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SubmitPlan:
    """The parts to send."""

    request: dict[str, Any]
    uploads: tuple[Upload, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Channel:
    path: Path
    """The path of its S3Uri."""
    name: str
    uri: str
    data_type: str
    in_s3: bool
    """True if the request names a location in S3, which is mapped to a local one."""
    word: str = "channel"

    @property
    def subject(self) -> str:
        return f'{self.word} "{self.name}"'


def plan_submit(
    document: Document,
    options: SubmitOptions,
    *,
    read: Callable[[int, int], None] = lambda _read, _total: None,
) -> SubmitPlan:
    """Validate as the service does, then read all local data. The document is changed, and must have its name.

    `read` is told how many bytes of how many have been read.
    """
    local = local_settings(document)
    notes: list[str] = []
    channels = [each for each in _local_channels(document, local) if _is_uploaded(each, options, local, notes)]
    code = local.Code if local.Code is not None and _sends_code(document, options, notes) else None
    if local.Sample is not None and channels:
        notes.append(f"Local.Sample is for this machine: all files of the {channels[0].word}s are uploaded")
    top = _top(options)
    missing = _no_place([*(each.subject for each in channels), *(["the code"] if code is not None else [])], top)
    document.overrides = "--upload-to"
    top = top or _ANY_PLACE  # so only the missing place is refused
    for each in channels:
        document.set(each.path, f"{top}{each.name}/{_NOT_YET}/")
    name_code = _place_code(document) if code is not None else lambda _: None
    name_code(f"{top}{_CODE_CHANNEL}/{_NOT_YET}/{CODE_ARCHIVE}")
    try:
        request = strict_request(document, region=options.region)
    except RequestInvalidError as error:
        error.remedy = (*error.remedy, *(missing.remedy if missing is not None else ()))
        raise
    if missing is not None:
        raise missing
    notes += _image_notes(request, options.region)
    listings = [(each, _listing(each, document, local, request, options.region)) for each in channels]
    packed = None if code is None else _packed(code, document, options)
    total = sum(listing.total_bytes or 0 for _, listing in listings) + (packed.total_bytes or 0 if packed else 0)
    so_far = 0

    def moved(count: int) -> None:
        nonlocal so_far
        so_far += count
        read(so_far, total)

    uploads = []
    for each, listing in listings:
        notes += [f"{each.subject}: {skipped} and is not uploaded" for skipped in listing.skipped[:3]]
        upload = plan_upload(listing, subject=each.subject, below=f"{top}{each.name}/", read=moved)
        document.set(each.path, upload.uri)
        uploads.append(upload)
    if packed is not None:
        upload = plan_upload(packed, subject="the code", below=f"{top}{_CODE_CHANNEL}/", shown=code or "", read=moved)
        name_code(upload.uri)
        notes += _code_notes(request)
        uploads.append(upload)
    return SubmitPlan(
        request=strict_request(document, region=options.region), uploads=tuple(uploads), notes=tuple(notes)
    )


def complete_processing(document: Document, *, output_to: str | None) -> None:
    """Write what a processing job leaves out here and has on the service; local outputs go below `output_to`."""
    for index, each in enumerate(_maps(document.data.get("ProcessingInputs"))):
        if isinstance(each.get("S3Input"), dict) and each["S3Input"].get("S3DataType") is None:
            document.set(("ProcessingInputs", index, "S3Input", "S3DataType"), "S3Prefix")
    config = document.data.get("ProcessingOutputConfig")
    place: Path = ("ProcessingOutputConfig", "Outputs")
    for index, each in enumerate(_maps(config.get("Outputs") if isinstance(config, dict) else None)):
        if isinstance(each.get("S3Output"), dict) and each["S3Output"].get("S3UploadMode") is None:
            document.set((*place, index, "S3Output", "S3UploadMode"), "EndOfJob")
    if output_to is None:
        return
    check_location(output_to, "--output-to")
    overrides, document.overrides = document.overrides, "--output-to"
    top = f"{output_to.rstrip('/')}/{document.data.get('ProcessingJobName')}/output"
    for index, name in [*outputs_here(document.data)]:
        document.set((*place, index, "S3Output", "S3Uri"), f"{top}/{name}")
    document.overrides = overrides


def _maps(given: Any) -> list[dict[str, Any]]:
    """The elements of what should be a list of maps: the request has not been validated."""
    return [each if isinstance(each, dict) else {} for each in given] if isinstance(given, list) else []


def check_location(text: str, option: str) -> None:
    """Refuse text that is not a location in S3."""
    if not _LOCATION.fullmatch(text):
        raise UploadPrefixError(
            f"{option}: {text!r} is not a location in S3", remedy=("Write it like s3://bucket/some/prefix",)
        )


def _top(options: SubmitOptions) -> str:
    """The prefix of all uploads, with a final `/`; empty if none is given."""
    if options.upload_to is None:
        return ""
    check_location(options.upload_to, "--upload-to")
    return f"{options.upload_to.rstrip('/')}/"


def _no_place(needed: list[str], top: str) -> UploadPrefixError | None:
    """The error if files must be uploaded and there is no prefix."""
    if top or not needed:
        return None
    one = len(needed) == 1
    return UploadPrefixError(
        f"{' and '.join(needed)} {'is' if one else 'are'} on this machine, and no place in S3 is given to upload "
        f"{'it' if one else 'them'} to",
        remedy=(
            "Name one:  --upload-to s3://bucket/some/prefix",
            'Or for all jobs in smlocal.toml:  [submit]  upload-to = "s3://bucket/some/prefix"',
        ),
    )


def _local_channels(document: Document, local: LocalSettings) -> Iterator[_Channel]:
    """The channels, or inputs of a processing job, with data of this machine."""
    for each in _inputs(document) if kind_of(document.data) is PROCESSING else _channels(document):
        if not each.in_s3 or longest_match(each.uri, local.Sources) is not None:
            yield each


def _channels(document: Document) -> Iterator[_Channel]:
    channels = document.data.get("InputDataConfig")
    for index, channel in enumerate(channels if isinstance(channels, list) else ()):
        source: Any = channel
        for step in ("DataSource", "S3DataSource"):
            source = source.get(step) if isinstance(source, dict) else None
        uri = source.get("S3Uri") if isinstance(source, dict) else None
        if not isinstance(uri, str) or not isinstance(channel.get("ChannelName"), str):
            continue
        yield _Channel(
            path=("InputDataConfig", index, "DataSource", "S3DataSource", "S3Uri"),
            name=channel["ChannelName"],
            uri=uri,
            data_type=str(source.get("S3DataType")),
            in_s3=is_remote(uri),
        )


def _inputs(document: Document) -> Iterator[_Channel]:
    inputs = _maps(document.data.get("ProcessingInputs"))
    names = plain_names((str(each.get("InputName") or "") for each in inputs), "input")
    for index, (each, name) in enumerate(zip(inputs, names, strict=True)):
        source: Any = each.get("S3Input")
        uri = source.get("S3Uri") if isinstance(source, dict) else None
        if isinstance(uri, str):
            yield _Channel(
                path=("ProcessingInputs", index, "S3Input", "S3Uri"),
                name=name,
                uri=uri,
                data_type=str(source.get("S3DataType")),
                in_s3=is_remote(uri),
                word="input",
            )


def _is_uploaded(channel: _Channel, options: SubmitOptions, local: LocalSettings, notes: list[str]) -> bool:
    if not channel.in_s3 or options.upload_sources:
        return True
    match = longest_match(channel.uri, local.Sources)
    mapped = "" if match is None else match.value
    notes.append(
        f"{channel.subject} is read from {channel.uri}, and not from {mapped} (--upload-sources uploads that instead)"
    )
    return False


def _listing(
    channel: _Channel, document: Document, local: LocalSettings, request: dict[str, Any], region: str | None
) -> Listing:
    line = document.line(channel.path)
    where = None if line is None else f"{document.name}:{line}"
    mapping = local.Sources if channel.in_s3 else {}
    caller = Caller(region=region or "", role=str(request.get("RoleArn")))
    if channel.data_type not in {"ManifestFile", "AugmentedManifestFile"}:
        return local_listing.list_source(
            channel.uri,
            channel=channel.name,
            directory=document.directory,
            mapping=mapping,
            where=where,
            region=caller.region,
            role=caller.role,
        )
    asked = RequestedSource(
        subject=channel.subject, member="S3Uri", uri=channel.uri, where=where, directory=document.directory
    )
    found = local_listing.list_object(asked, mapping=mapping, strict=False, caller=caller)
    _check_manifest(channel, found)
    return found


def _check_manifest(channel: _Channel, found: Listing) -> None:
    """Refuse a manifest that the service could not follow: one that names files of this machine."""
    path = found.file(0)
    try:
        with open(path, "rb") as file:
            if channel.data_type == "ManifestFile":
                try:
                    named = [next(manifest_strings(iter(lambda: file.read(1 << 20), b"")))]
                except ManifestError as error:
                    raise _bad_manifest(channel, str(error)) from error
            else:
                named = list(_references(channel, file.read()))
    except OSError as error:
        raise changed(channel.subject, path, f"it cannot be read: {error.strerror}") from error
    local = next((each for each in named if not is_remote(each)), None)
    if local is not None:
        raise _bad_manifest(channel, f"names the local path {local}, which the service cannot read")


def _references(channel: _Channel, data: bytes) -> Iterator[str]:
    for number, line in enumerate(data.splitlines(), 1):
        try:
            record = json.loads(line) if line.strip() else {}
        except ValueError as error:
            raise _bad_manifest(channel, f"has no JSON in its line {number}") from error
        if isinstance(record, dict):
            yield from (value for name, value in record.items() if name.endswith("-ref") and isinstance(value, str))


def _bad_manifest(channel: _Channel, why: str) -> UploadManifestError:
    return UploadManifestError(
        f"{channel.subject}: the manifest {channel.uri} {why}",
        remedy=(
            f"Upload the data yourself and name it in the manifest, or give the {channel.word} a folder (S3Prefix).",
        ),
    )


def _sends_code(document: Document, options: SubmitOptions, notes: list[str]) -> bool:
    parameters = document.data.get("HyperParameters")
    there = parameters.get(CODE_PARAMETER) if isinstance(parameters, dict) else None
    if there is None or options.code_given or options.upload_sources:
        return True
    notes.append(f"the code is read from {there}, and not from Local.Code (--upload-sources uploads that instead)")
    return False


def _packed(code: str, document: Document, options: SubmitOptions) -> Listing:
    line = document.line((LOCAL, "Code"))
    listing = local_listing.list_folder(
        code,
        subject="the code",
        member="Local.Code",
        directory=document.directory,
        where=None if line is None else f"{document.name}:{line}",
    )
    try:
        return pack_code(listing, options.scratch)
    except OSError as error:
        name = os.fsdecode(error.filename) if error.filename else code
        raise changed("the code", name, error.strerror or str(error)) from error


def _place_code(document: Document) -> Callable[[str], None]:
    """Tell AWS's training toolkit where the code is; returns what sets its URI.

    Without network the toolkit cannot fetch it: then it is delivered as a channel, as the SDK does it.
    """
    parameter: Path = ("HyperParameters", CODE_PARAMETER)
    if document.data.get("EnableNetworkIsolation") is not True:
        return lambda uri: document.set(parameter, json.dumps(uri))
    document.set(parameter, json.dumps(_IN_CODE_CHANNEL))
    channels = document.data.get("InputDataConfig")
    if channels is None:
        channels = document.data["InputDataConfig"] = []
    path: Path = ("InputDataConfig", len(channels))
    source = {"S3DataType": "S3Prefix", "S3Uri": "", "S3DataDistributionType": "FullyReplicated"}
    own = {"ChannelName": _CODE_CHANNEL, "DataSource": {"S3DataSource": source}, "InputMode": "File"}
    document.set(path, own)
    return lambda uri: document.set((*path, "DataSource", "S3DataSource", "S3Uri"), uri)


def _code_notes(request: dict[str, Any]) -> Iterator[str]:
    yield (
        "the code gets to /opt/ml/code only in images with AWS's training toolkit, which unpacks "
        f"{CODE_PARAMETER}; other images do not see it"
    )
    if "sagemaker_program" not in (request.get("HyperParameters") or {}):
        yield "the toolkit needs the hyperparameter sagemaker_program: the file in the code that it starts"


def _image_notes(request: dict[str, Any], region: str | None) -> Iterator[str]:
    other = other_region(request, region)
    if other is not None:
        yield f"the image is in {other}, and the job in {region}: the service pulls images of its own region"

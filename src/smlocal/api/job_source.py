"""Reads a job from a file, text or a dict with overrides, validates it and finds its name.

This needs neither an engine nor the network.
"""

import json
import os
import stat
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from smlocal.api.image_name import is_image_name
from smlocal.api.job_files import (
    REPLICAS,
    absent_paths,
    file_named,
    kind_of,
    refuse_other_kinds,
    refuse_to_run,
    refuse_unknown,
)
from smlocal.api.overrides import (
    KEYWORD_ARGUMENTS,
    Overrides,
    apply_overrides,
    fill,
    new_channels,
    new_hyperparameters,
)
from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import (
    ImageNameError,
    JobFileMissingError,
    JobFileSyntaxError,
    KeywordInvalidError,
    SmlocalError,
    UsageRefusedError,
)
from smlocal.jobfile.document import Document, TooLargeForARequestError
from smlocal.jobfile.job_reading import AskedJob, JobReading
from smlocal.sagemaker.contract.identity import default_name
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.kinds import ENDPOINT, PIPELINE, TRAINING, TRANSFORM
from smlocal.terms.validation.violation import Path, close_matches

if TYPE_CHECKING:
    from smlocal.jobfile.reading import load_document
else:
    load_document = at_use("smlocal.jobfile.reading", "load_document")

JobSource = str | os.PathLike[str] | Mapping[str, Any]
"""A job file, or a CreateTrainingJob request with an optional `Local` block."""
MAX_BYTES = 10 << 20
"""The largest job file."""


def read_source(
    source: JobSource | None, given: Overrides, *, strict: bool, to_run: bool = True
) -> tuple[AskedJob, str]:
    """The validated job of a call, and its name. `to_run`: refuse kinds that `run` does not start."""
    if source is None and not given.get("image"):
        raise UsageRefusedError(
            "no job is given", remedy=["Pass a job file, a CreateTrainingJob request as a dict, or image=..."]
        )
    document = _empty(KEYWORD_ARGUMENTS) if source is None else _document(source)
    document.overrides = KEYWORD_ARGUMENTS
    path = _path(source) if isinstance(source, str | os.PathLike) else None
    return read_any(document, given, path=path, fill_in=source is None, strict=strict, to_run=to_run)


def read_any(
    document: Document,
    given: Overrides,
    *,
    path: str | None,
    fill_in: bool,
    strict: bool,
    to_run: bool = True,
    on_message: Callable[[str], None] = lambda _: None,
) -> tuple[AskedJob, str]:
    """The validated job of any platform, and its name. `to_run`: refuse kinds that `run` does not start."""
    made_of_inputs(document, given)
    kind = kind_of(document.data)
    if to_run:
        refuse_to_run(document)
    if kind is TRAINING:
        return read_document(document, given, path=path, fill_in=fill_in, strict=strict, on_message=on_message)
    apply_overrides(document, given)
    return _read(document, kind.reads, name=given.get("name"), path=path, strict=strict)


def made_of_inputs(document: Document, given: Overrides) -> None:
    """Make the document of a processing job of an empty one, if only such a job has what is given."""
    if not document.data and any(given.get(each) for each in ("inputs", "processing_outputs")):
        document.data["AppSpecification"] = {}


def _read(
    document: Document,
    reading: JobReading,
    *,
    name: str | None = None,
    path: str | None,
    strict: bool,
    local_allowed: bool = True,
) -> tuple[AskedJob, str]:
    """The validated job of a kind, and its name."""
    image = reading.image_in(document.data)
    stem = _name_stem(path, image or reading.USUAL_STEM)
    job, found = reading.read_named(document, name=name, stem=stem, strict=strict, local_allowed=local_allowed)
    if image is not None:
        _check_image_name(document, reading.IMAGE, image)
    return job, found


def read_document(
    document: Document,
    given: Overrides,
    *,
    path: str | None,
    fill_in: bool,
    strict: bool,
    local_allowed: bool = True,
    on_message: Callable[[str], None] = lambda _: None,
) -> tuple[JobFile, str]:
    """The validated request and its name. `path`: the file of the document, if it may give the job its name."""
    override(document, given, fill_in=fill_in, on_message=on_message)
    job, name = _read(document, TRAINING.reads, path=path, strict=strict, local_allowed=local_allowed)
    return cast("JobFile", job), name


def override(
    document: Document,
    given: Overrides,
    *,
    fill_in: bool,
    on_message: Callable[[str], None] = lambda _: None,
) -> None:
    """Change a document as flags or keywords say; `fill_in` what every request needs."""
    if kind_of(document.data) is REPLICAS:
        raise _no_request(document)
    refuse_unknown(document)
    refuse_other_kinds(document)

    channels, hyperparameters = given.get("channels") or {}, {**(given.get("hyperparameters") or {})}
    named = "HyperParameters."
    hyperparameters |= {
        path.removeprefix(named): str(value)
        for path, value in (given.get("members") or {}).items()
        if path.startswith(named)
    }
    if channels or hyperparameters:
        for sentence in (*new_channels(document, channels), *new_hyperparameters(document, hyperparameters)):
            on_message(sentence)
    apply_overrides(document, given)
    if fill_in:
        fill(document)


@dataclass(frozen=True, kw_only=True, slots=True)
class Validated:
    """One job file."""

    file: str
    error: SmlocalError | None
    """None for a job that `smlocal run` accepts."""
    warnings: tuple[str, ...] = ()
    """Local paths that do not exist: a file can be checked without its data."""


def validate_file(path: str, *, strict: bool, prepare: Callable[[Document], None] = lambda _: None) -> Validated:
    """Validate one job file; `-` is standard input. `strict`: as it is, the service would accept it.

    `prepare` may change the document first.
    """
    job: AskedJob
    file = "stdin" if path == "-" else path
    try:
        document = read_standard_input() if path == "-" else read_file(path)
        kind = kind_of(document.data)
        if kind not in {REPLICAS, TRANSFORM, ENDPOINT}:
            prepare(document)
            kind = kind_of(document.data)
        if kind is TRAINING:
            job, _ = read_document(
                document, Overrides(), path=None, fill_in=False, strict=strict, local_allowed=not strict
            )
        elif kind is PIPELINE:  # its parameters get their values when it runs
            job = kind.reads.read(document, strict=strict, local_allowed=not strict)
        else:
            job, _ = _read(document, kind.reads, path=None, strict=strict, local_allowed=not strict)
        warnings = tuple(absent_paths(job))
    except SmlocalError as error:
        return Validated(file=file, error=error)
    return Validated(file=file, error=None, warnings=warnings)


def read_text(content: bytes, *, name: str, directory: str) -> Document:
    """A document in YAML or JSON."""
    text = _decoded(content, name)
    try:
        return load_document(text, name=name, directory=directory)
    except TooLargeForARequestError:
        if PIPELINE.sign not in text:
            raise
        from smlocal.sagemaker.pipelines.reading import load_definition  # few documents are as large as a pipeline

        document = load_definition(text, name=name, directory=directory)
        if kind_of(document.data) is not PIPELINE:
            raise
        return document


def read_file(path: str) -> Document:
    """A job file."""
    return read_text(_content(path), name=path, directory=os.path.dirname(os.path.abspath(path)))


def read_standard_input() -> Document:
    """A job file on standard input."""
    content, name = read_content("-")
    return read_text(content, name=name, directory=os.getcwd())


def read_content(path: str) -> tuple[bytes, str]:
    """The bytes of a file, `-` is standard input, and the name that messages use for it."""
    if path != "-":
        return _content(path), path
    return sys.stdin.buffer.read(MAX_BYTES + 1), "stdin"


def command_line_document() -> Document:
    """An empty document, for a job that only flags describe."""
    return _empty("command line")


def _empty(name: str) -> Document:
    return Document({}, name=name, directory=os.getcwd())


def _document(source: JobSource) -> Document:
    if isinstance(source, str | os.PathLike):
        return read_file(_path(source))
    if not isinstance(source, Mapping):
        raise _no_job(source)
    try:
        # A copy, so that the caller's dict is not changed. It has only what a job file can have.
        data = json.loads(json.dumps(dict(source), default=os.fspath))
    except (TypeError, ValueError, RecursionError) as error:
        raise JobFileSyntaxError(
            "the request holds what JSON cannot hold",
            details=[str(error)],
            remedy=["Use strings, numbers, booleans, None, lists and dicts, as boto3 takes them."],
        ) from error
    return Document(data, name="request", directory=os.getcwd())


def _path(source: "str | os.PathLike[str]") -> str:
    path = os.fspath(source)
    if not isinstance(path, str):  # of bytes
        raise _no_job(source)
    return path


def _no_job(source: object) -> KeywordInvalidError:
    return KeywordInvalidError(
        f"job must be a path (str or os.PathLike) or a dict, and is of the type {type(source).__name__}",
        remedy=['Write it like smlocal.run("job.yaml"), or pass a CreateTrainingJob request as a dict.'],
    )


def _check_image_name(document: Document, place: Path, image: str) -> None:
    """The service accepts any text here, but engines do not."""
    if is_image_name(image):
        return
    lower = image.rpartition("/")[2].partition(":")[0].lower()
    raise ImageNameError(
        f"{image!r} is not a valid image name",
        details=[f"{document.where(place)}   {place[-1]}: {image}"],
        remedy=[
            "Write [registry/]repository[:tag][@digest], with the repository in lower case.",
            *([f"Did you mean {image.lower()}?"] if lower and is_image_name(image.lower()) else []),
        ],
    )


def _no_request(document: Document) -> UsageRefusedError:
    return UsageRefusedError(
        f"{document.name} is a job of AI Platform Training or a custom job, and this takes CreateTrainingJob requests",
        remedy=[f"Run it: smlocal run {file_named(document)}"],
    )


def _stem(path: str) -> str:
    """The part of a job's name that comes from its file."""
    stem = os.path.splitext(os.path.basename(path))[0]
    # Most job files are called job.yaml. The name of the folder says more.
    return os.path.basename(os.path.dirname(os.path.abspath(path))) or stem if stem == "job" else stem


def default_job_name(path: str | None, image: str | None) -> str:
    """The name of a job without one: the file's name, or the image's, and the time."""
    return default_name(_name_stem(path, image or "job"), datetime.now().astimezone())


def _name_stem(path: str | None, image: str) -> str:
    return _stem(path) if path else image.rpartition("/")[2].partition(":")[0]


def _content(path: str) -> bytes:
    """The first bytes of a regular file. Devices and FIFOs are not opened, since reading them may never end."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise JobFileMissingError(f"the job file {path} is a folder", remedy=["Give the path of a file in it."])
        if not stat.S_ISREG(mode):
            raise JobFileMissingError(
                f"the job file {path} is not a regular file",
                remedy=["Write it to a file, or pass it on stdin: ... | smlocal run -"],
            )
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise JobFileMissingError(f"the job file {path} does not exist", remedy=_similar(path)) from error
    except OSError as error:
        raise JobFileMissingError(f"the job file {path} cannot be read: {error.strerror}") from error


def _decoded(content: bytes, name: str) -> str:
    if len(content) > MAX_BYTES:
        raise JobFileSyntaxError(f"{name} is too large for a request: more than {MAX_BYTES >> 20} MiB")
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
    folder = os.path.dirname(path) or "."
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    wanted = os.path.basename(path)
    # By their stems first: with the ending, any two names of job files are alike.
    stems = close_matches(os.path.splitext(wanted)[0], {os.path.splitext(name)[0] for name in names}, most=3)
    meant = close_matches(wanted, [name for name in names if os.path.splitext(name)[0] in stems])
    return [f"Did you mean {os.path.join(os.path.dirname(path), meant[0])}?"] if meant else []

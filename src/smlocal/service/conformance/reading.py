"""Reads the known facts about one job: of this machine, or saved by somebody from a job of the service."""

import json
import os
import re
import stat
import zlib
from base64 import b64decode
from collections.abc import Iterable
from contextlib import suppress
from functools import reduce
from hashlib import sha256
from typing import Any

from smlocal.api.job_names import resolve_job_name
from smlocal.api.training_job import TrainingJob
from smlocal.base.foreign_archive.archive import ArchiveLimits, ForeignArchive
from smlocal.base.foreign_archive.stream import ArchiveError, BeyondLimitError, opened, pieces_of
from smlocal.base.foreign_archive.tar_entries import TarEntry
from smlocal.errors import ConformanceDocumentError, JobUnknownError
from smlocal.service.conformance.document import Document, JobPieces, check_document, check_host_document, join
from smlocal.service.conformance.probe import MARK

_LARGEST = 64 << 20
_LARGEST_DOCUMENT = 8 << 20
"""The largest document that is parsed: parsing takes forty times as much memory."""
_MOST_ENTRIES = 10_000
_HOST_FILE = re.compile(r"conformance-([\w-]+)\.json")
_SIGNS_FILE = re.compile(r"conformance-([\w-]+)-signs\.txt")
_TRACES = re.compile(r"traces(/.*)?|only-.*")
_KINDS = {"file": "file", "sparse": "file", "folder": "folder", "link": "link", "hard": "hard link"}
_GZIP = b"\x1f\x8b"


def read(source: str, *, version: str) -> Document:
    """The document that a source has: a saved one, or that of one job."""
    if os.path.isfile(source):
        content = _content(source)
        found = _json(content)
        if isinstance(found, dict) and "Jobs" in found:
            return check_document(source, found)
    return collect([source], version=version)


def collect(sources: Iterable[str], *, version: str) -> Document:
    """One document of several jobs; each source is one job."""
    return join([(source, _pieces(source)) for source in sources], version=version)


def _pieces(source: str) -> JobPieces:
    if os.path.isdir(source):
        paths = [os.path.join(source, name) for name in sorted(os.listdir(source))]
        return _together(_of_file(path) for path in paths if not os.path.isdir(path))
    return _of_file(source) if os.path.lexists(source) else _of_local_job(source)


def _together(pieces: Iterable[JobPieces]) -> JobPieces:
    return reduce(JobPieces.with_more, pieces, JobPieces())


def _of_local_job(name: str) -> JobPieces:
    """The log has what the archive has, too, should the archive be gone."""
    try:
        job = TrainingJob(resolve_job_name(name))
    except JobUnknownError as error:
        details = [*error.details, f"There is no file {name} either."]
        raise JobUnknownError(error.sentence, details=details, remedy=error.remedy) from error
    paths = [*job.log_files.values(), *(each.path for each in (job.model, job.output) if each is not None)]
    found = _together(_of_file(path) for path in paths if os.path.isfile(path))
    return found.with_more(JobPieces(answer=job.describe(service=True)))


def _of_file(path: str) -> JobPieces:
    content = _content(path)
    if content.startswith(_GZIP):
        return _of_archive(path)
    document = _json(content)
    if not isinstance(document, dict) or "events" in document:  # a log; or the output of `aws logs get-log-events`
        text = content.decode(errors="replace")
        return JobPieces(hosts=documents(path, text), signs=signs(text))
    if "TrainingJobStatus" in document:
        return JobPieces(answer=document)
    seen = check_host_document(path, document)
    return JobPieces(hosts={str(seen["Host"]): seen})


def _of_archive(path: str) -> JobPieces:
    """The documents in a model.tar.gz, and the entries that show how archives are made."""
    hosts: dict[str, Document] = {}
    signs: dict[str, list[tuple[str, float]]] = {}
    entries: dict[str, Any] = {}
    try:
        with opened(path) as file:
            archive = ForeignArchive(pieces_of(file), ArchiveLimits(members=_MOST_ENTRIES, content=_LARGEST))
            for member in archive:
                name = member.name.removeprefix("./")
                if host := _HOST_FILE.fullmatch(name):
                    hosts[host[1]] = check_host_document(f"{path}, {name}", _json(_member(path, archive, member)))
                elif host := _SIGNS_FILE.fullmatch(name):
                    signs[host[1]] = saved_signs(_member(path, archive, member).decode(errors="replace"))
                elif _TRACES.fullmatch(name):
                    entries[name] = _entry(archive, member)
    except BeyondLimitError as error:
        raise ConformanceDocumentError(f"{path} is too large for an archive of smlocal conformance: {error}") from error
    except (ArchiveError, OSError) as error:
        raise ConformanceDocumentError(f"{path} cannot be read: {error}") from error
    return JobPieces(hosts=hosts, signs=signs, archives={"Model" if hosts else "Output": entries})


def _entry(archive: ForeignArchive, member: TarEntry) -> Document:
    described: Document = {
        "Kind": _KINDS.get(member.kind, "other"),
        "Mode": f"{stat.S_IMODE(member.mode):04o}",
        "User": member.uid,
        "Group": member.gid,
    }
    if member.kind in {"link", "hard"}:
        described["Target"] = member.link
    elif member.kind == "file":
        described["Content"] = archive.read(100).decode(errors="replace")
    return described


def _member(path: str, archive: ForeignArchive, member: TarEntry) -> bytes:
    if member.size > _LARGEST_DOCUMENT:
        raise ConformanceDocumentError(
            f"{path}, {member.name[:100]} is too large for a document of smlocal conformance"
        )
    return archive.read(_LARGEST_DOCUMENT) if member.kind == "file" else b""


def _json(content: bytes) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(content)
    return None


def _content(path: str) -> bytes:
    try:
        # A FIFO without a writer would otherwise wait here.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ConformanceDocumentError(f"{path} is not a regular file")
            content = file.read(min(status.st_size, _LARGEST) + 1)
    except OSError as error:
        raise ConformanceDocumentError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise ConformanceDocumentError(f"{path} is too large for a document of smlocal conformance")
    return content


_PART = re.compile(rf"{MARK} part ([\w-]+) (\d+)/(\d+) ([0-9a-f]{{16}}) ([A-Za-z0-9+/=]+)")
_SIGN_LINE = re.compile(rf"{MARK} sign ([\w-]+) ([A-Za-z]+) (\d+\.\d+)")
_LARGEST_LOGGED = 16 << 20


def documents(place: str, text: str) -> dict[str, Document]:
    """By host: the document that the probe printed in parts. A part is found anywhere in a line."""
    parts: dict[tuple[str, str], dict[int, str]] = {}
    counts: dict[tuple[str, str], int] = {}
    for host, number, count, digest, piece in _PART.findall(text):
        parts.setdefault((host, digest), {})[int(number)] = piece
        counts[host, digest] = int(count)
    found = {}
    for (host, digest), pieces in parts.items():
        missing = counts[host, digest] - len(pieces)
        if missing > 0:
            raise ConformanceDocumentError(
                f"{place} lacks {missing} of the {counts[host, digest]} parts of the document of {host}",
                remedy=["Save the whole log, or give the model.tar.gz of the job."],
            )
        found[host] = check_host_document(
            f"{place}, {host}", _unpacked(place, "".join(pieces[number] for number in sorted(pieces)), digest)
        )
    return found


def _unpacked(place: str, encoded: str, digest: str) -> Any:
    opened = zlib.decompressobj()
    try:
        packed = b64decode(encoded, validate=True)
        content = opened.decompress(packed, _LARGEST_LOGGED)
        found = json.loads(content)
    except (ValueError, zlib.error, RecursionError) as error:
        raise ConformanceDocumentError(f"{place} has a damaged document: {error}") from error
    if not opened.eof or sha256(packed).hexdigest()[:16] != digest:
        raise ConformanceDocumentError(f"{place} has a damaged document: its checksum is wrong")
    return found


def signs(text: str) -> dict[str, list[tuple[str, float]]]:
    """By host: signals and signs of life that were printed."""
    found: dict[str, list[tuple[str, float]]] = {}
    for host, name, when in _SIGN_LINE.findall(text):
        found.setdefault(host, []).append((name, float(when)))
    return found


def saved_signs(text: str) -> list[tuple[str, float]]:
    """Those of the file that one host has in the model. The last line may be cut."""
    lines = (re.fullmatch(r"([A-Za-z]+) (\d+\.\d+)", line) for line in text.splitlines())
    return [(line[1], float(line[2])) for line in lines if line is not None]

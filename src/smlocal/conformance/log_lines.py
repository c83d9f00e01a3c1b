"""Documents and signs of life in the log of a job, in whatever form it was saved. Pure."""

import json
import re
import zlib
from base64 import b64decode
from hashlib import sha256
from typing import Any

from smlocal.conformance.document import Document, check_host_document
from smlocal.conformance.probe import MARK
from smlocal.errors import ConformanceDocumentError

_PART = re.compile(rf"{MARK} part ([\w-]+) (\d+)/(\d+) ([0-9a-f]{{16}}) ([A-Za-z0-9+/=]+)")
_SIGN_LINE = re.compile(rf"{MARK} sign ([\w-]+) ([A-Za-z]+) (\d+\.\d+)")
_LARGEST = 16 << 20


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
        content = opened.decompress(packed, _LARGEST)
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

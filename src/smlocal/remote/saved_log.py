"""The last lines of a log that somebody has saved: plain text, or what the AWS CLI prints."""

import json
import os
import re
import stat
from collections.abc import Mapping
from typing import Any

from smlocal.errors import LogFileError
from smlocal.remote.job_end import LINES, LogEnd
from smlocal.remote.service_log import host_in

_TAIL = 1 << 20
"""Bytes of a text that are read."""
_LARGEST = 64 << 20
"""Of a JSON document, which is read as a whole."""
_TAILED = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})? (\S+/\S+) ?")
"""What `aws logs tail` puts before each line: the time and the stream."""


def saved_log(path: str) -> LogEnd:
    """The end of each host's log in a file; `LogFileError` if it cannot be read."""
    content = _content(path)
    lines = _events(content, path) if content.lstrip()[:1] == b"{" else None
    if lines is None:
        lines = _text(content)
    if not any(lines.values()):
        return LogEnd(lines={}, missing=f"{path} has no lines")
    return LogEnd(lines={host: each[-LINES:] for host, each in sorted(lines.items()) if each})


def _content(path: str) -> bytes:
    """The end of a text, all of a document."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # opening a FIFO would wait
            raise LogFileError(f"the log {path} is not a regular file", remedy=["Save it to a file first."])
        with open(path, "rb") as file:
            document = file.read(1) == b"{" and status.st_size <= _LARGEST
            file.seek(0 if document else max(0, status.st_size - _TAIL))
            return file.read()
    except OSError as error:
        raise LogFileError(f"the log {path} cannot be read: {error.strerror}") from error


def _events(content: bytes, path: str) -> dict[str, list[str]] | None:
    """Of an answer of GetLogEvents or FilterLogEvents; None for a text that only begins like one."""
    try:
        document: Any = json.loads(content)
    except (ValueError, RecursionError):
        return None
    events = document.get("events") if isinstance(document, dict) else None
    if not isinstance(events, list) or not all(isinstance(each, dict) and "message" in each for each in events):
        raise LogFileError(
            f"{path} is a JSON document without log events",
            remedy=["Save plain text, or what aws logs get-log-events or filter-log-events prints."],
        )
    lines: dict[str, list[str]] = {}
    for event in sorted(events, key=_when):
        lines.setdefault(host_in(str(event.get("logStreamName", ""))), []).extend(str(event["message"]).split("\n"))
    return lines


def _when(event: Mapping[str, Any]) -> float:
    when = event.get("timestamp")
    return float(when) if isinstance(when, int | float) else 0.0


def _text(content: bytes) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    host = ""
    for line in content.decode("utf-8", errors="replace").removesuffix("\n").splitlines():
        found = _TAILED.match(line)
        if found is not None:
            host = host_in(found[1])
            line = line[found.end() :]  # noqa: PLW2901 - what the container wrote
        lines.setdefault(host, []).append(line)
    return lines

"""The last lines of a job's log: in CloudWatch, or saved as text, by the AWS CLI or by CloudWatch's console."""

import os
import re
import stat
import zlib
from collections.abc import Sequence
from typing import Any

from smlocal.errors import LogFileError, ServiceRefusedError, SmlocalError
from smlocal.service.job_end import LINES, LogEnd
from smlocal.service.log_forms import (
    SavedEvent,
    SavedEvents,
    UnreadFormError,
    document_events,
    row_events,
    table_events,
    text_events,
)
from smlocal.service.service import Service

_TAIL = 1 << 20
"""Bytes of a text that are read."""
_HEAD = 4096
_LARGEST = 64 << 20
"""The largest table or document, which are read as a whole."""
_FORMS = (
    "Save plain text, the output of aws logs tail, get-log-events or filter-log-events (JSON), or a CSV of CloudWatch.",
)
_BINARY = {b"PK\x03\x04": "a workbook or a ZIP archive", b"%PDF": "a PDF", b"\xd0\xcf\x11\xe0": "a workbook"}
_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"\xef\xbb\xbf": "utf-8"}
"""Byte order marks: PowerShell writes UTF-16."""
_UNREAD = {
    r"(?i)\s*<(?:!doctype|html)\b": "it is a page of HTML",
    r"\s*\|.*message": "it is a table in Markdown",
    r"-{20,}\n\|": "it is a table of the AWS CLI",
    r"\s*events:\s*\n\s*- ": "it is a document in YAML",
}


def saved_log(path: str, *, job: str = "") -> LogEnd:
    """The end of each host's log in a file. `job`: whose log it should be.

    Raises `LogFileError` if the file cannot be read, if its form is not known to have an end, or if it is the log of
    another job.
    """
    try:
        found = _found(path)
    except UnreadFormError as error:
        raise LogFileError(f"the log {path} cannot be compared: {error}", remedy=_FORMS) from error
    return _end(_of_job(found, job, path), path)


def _found(path: str) -> SavedEvents:
    content, beginning, whole = _content(path)
    for pattern, what in _UNREAD.items():
        if re.match(pattern, beginning):
            raise UnreadFormError(what)
    if beginning.lstrip()[:1] in {"{", "["} and whole:
        found = document_events(content)
        if found is not None:
            return found
    found = table_events(content if whole else beginning.partition("\n")[0])
    if found is not None:
        if not whole:
            raise UnreadFormError(f"a table of more than {_LARGEST >> 20} MiB is not read")
        return found
    return row_events(content) or text_events(content, beginning=beginning)


def _content(path: str) -> tuple[str, str, bool]:
    """The file or its end, its beginning, and whether it is the whole file."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # opening a FIFO would wait
            raise LogFileError(f"the log {path} is not a regular file", remedy=["Save it to a file first."])
        with open(path, "rb") as file:
            head = file.read(_HEAD)
            if head.startswith(b"\x1f\x8b"):
                file.seek(0)
                content = _unpacked(file.read(_LARGEST))
                return _text(content, content), _text(content[:_HEAD], content), True
            for begins, what in _BINARY.items():
                if head.startswith(begins):
                    raise UnreadFormError(f"it is {what}")
            whole = status.st_size <= _LARGEST
            file.seek(0 if whole else status.st_size - _TAIL)
            return _text(file.read(_LARGEST), head), _text(head, head), whole
    except OSError as error:
        raise LogFileError(f"the log {path} cannot be read: {error.strerror}") from error


def _unpacked(content: bytes) -> bytes:
    """The content of a file of gzip, as an export of CloudWatch to S3 makes them."""
    reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        unpacked = reader.decompress(content, _LARGEST)
    except zlib.error as error:
        raise UnreadFormError(f"it is a damaged archive of gzip ({error})") from error
    if not reader.eof:
        raise UnreadFormError(f"it is an archive of gzip that is cut, or has more than {_LARGEST >> 20} MiB")
    return unpacked


def _text(content: bytes, head: bytes) -> str:
    mark = next((each for each in _MARKS if head.startswith(each)), b"")
    text = content.removeprefix(mark).decode(_MARKS.get(mark, "utf-8"), errors="replace")
    return text.replace("\r\n", "\n")


def _of_job(found: SavedEvents, job: str, path: str) -> SavedEvents:
    """Without the events of other jobs."""
    jobs = {event.stream.partition("/")[0] for event in found.events if "/" in event.stream}
    if not job or jobs <= {job}:
        return found
    if job not in jobs:
        raise LogFileError(
            f"the log {path} is that of {', '.join(sorted(jobs)[:3])}, not of {job}",
            remedy=[f"Save the streams whose names begin with {job}/."],
        )
    events = [event for event in found.events if event.stream.partition("/")[0] == job]
    return SavedEvents(events=events, ordered=found.ordered, unsure=found.unsure)


def _end(found: SavedEvents, path: str) -> LogEnd:
    events: dict[str, list[SavedEvent]] = {}
    for event in found.events:
        events.setdefault(host_in(event.stream), []).append(event)
    lines, last = {}, {}
    for host, each in sorted(events.items()):
        in_order = _in_order(each)
        kept = [line for event in in_order for line in _lines(event)]
        if kept:
            lines[host] = kept[-LINES:]
            if not found.ordered:
                last[host] = [line for event in _newest(in_order) for line in _lines(event)]
    if not any(line.strip() for each in lines.values() for line in each):
        return LogEnd(lines={}, missing=f"{path} has no lines")
    return LogEnd(lines=lines, last=last, unsure=found.unsure)


def _in_order(events: list[SavedEvent]) -> list[SavedEvent]:
    """By time, the oldest first. Among those of the same time, the order of the file is kept."""
    times = [event.time for event in events if event.time is not None]
    if len(times) < len(events):
        return events
    if times and times[0] > times[-1]:
        events = [*reversed(events)]
    return sorted(events, key=lambda event: event.time or 0.0)


def _newest(events: Sequence[SavedEvent]) -> list[SavedEvent]:
    return [event for event in events if event.time == events[-1].time]


def _lines(event: SavedEvent) -> list[str]:
    return event.message.removesuffix("\n").split("\n")


_STREAMS = 50
_MOST_PAGES = 5
"""CloudWatch may answer with an empty page although there are more events."""


def service_log(service: "Service", job: str, *, host: str, region: str | None = None) -> LogEnd:
    """The end of one host's log, or of the first host's if it has none.

    An obstacle is reported, and is not an error.
    """
    try:
        streams = _streams(service, job, region)
        if not streams:
            return _missing(
                f"CloudWatch has no log of {job}: its retention period is over, or no container has started"
            )
        chosen = streams.get(host) or next(iter(streams.values()))
        lines = _last_events(service, chosen, region)
    except SmlocalError as error:
        if isinstance(error, ServiceRefusedError) and error.code == "ResourceNotFoundException":
            return _missing(f"CloudWatch has no log group {service.kind.log_group}, or the log has just been deleted")
        return _missing(f"the log cannot be read: {error.sentence}")
    if not lines:
        return _missing(f"the log of {job} is empty: its retention period is over, or nothing was written")
    return LogEnd(lines={host_in(chosen): lines[-LINES:]})


def host_in(stream: str) -> str:
    """The host in the name of a stream: `job/algo-1-1700000000`."""
    name, _, number = stream.rpartition("/")[2].rpartition("-")
    return name if number.isdigit() and "-" in name else stream.rpartition("/")[2]


def _missing(why: str) -> LogEnd:
    return LogEnd(lines={}, missing=why)


def _streams(service: "Service", job: str, region: str | None) -> dict[str, str]:
    """The newest stream of each host: a job that was started again has several."""
    answer = service.call(
        "logs",
        "DescribeLogStreams",
        region=region,
        logGroupName=service.kind.log_group,
        logStreamNamePrefix=f"{job}/",
        orderBy="LogStreamName",
        limit=_STREAMS,
    )
    found = sorted(answer.get("logStreams") or (), key=lambda each: each.get("creationTime") or 0)
    newest = {host_in(each["logStreamName"]): str(each["logStreamName"]) for each in found}
    return dict(sorted(newest.items()))


def _last_events(service: "Service", stream: str, region: str | None) -> list[str]:
    lines: list[str] = []
    group = service.kind.log_group
    asked: dict[str, Any] = {"logGroupName": group, "logStreamName": stream, "startFromHead": False, "limit": LINES}
    for _ in range(_MOST_PAGES):
        answer = service.call("logs", "GetLogEvents", region=region, **asked)
        lines = [line for event in answer["events"] for line in str(event["message"]).split("\n")] + lines
        token = answer.get("nextBackwardToken")
        if len(lines) >= LINES or token is None or token == asked.get("nextToken"):
            break
        asked["nextToken"] = token
    return lines

"""The last lines of a log: from CloudWatch, or from one of the forms in which a log is saved."""

import csv
import io
import json
import math
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import LogFileError, ServiceRefusedError, SmlocalError
from smlocal.service.job_end import LINES, LogEnd
from smlocal.service.service import Service

_MESSAGES = ("@message", "message")
_TIMES = ("@timestamp", "timestamp", "time")
_STREAM_COLUMNS = ("@logstream", "logstreamname", "logstream", "log stream", "log stream name")
_SEPARATORS = ",;\t"
_RETURN = "\ue000"
"""In place of a carriage return, which programs write in a line, and which ends a row for the reader of tables."""
_LONGEST_FIELD = 64 << 20
_OF_AN_EVENT = {"eventId", "ingestionTime", "logStreamName"}
"""A program may log JSON with a time and a message of its own, but not with these."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_STAMP = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?"
_TAILED = re.compile(rf"({_STAMP}) (\S+/\S+)(?: |$)")
"""The prefix of each line of `aws logs tail`: the time and the stream."""
_TIMED = re.compile(rf"({_STAMP})(?:[ \t]|$)")
"""The prefix of a line in `aws logs tail --format short`, an export to S3 and a copy of the console's page."""
_OF_THE_PAGE = re.compile(  # the console's, when it is copied
    r"(?:Timestamp\s+)?Message|Timestamp|No (?:older|newer) events at this moment\..*|There are older events to load.*"
)
_ROW = re.compile(r"EVENTS\t(?:(?P<id>\d{30,})\t)?\d{13}\t(?:(?P<stream>[^\t\n]+/[^\t\n]+)\t)?", re.ASCII)
"""The prefix of a message in `--output text`."""
_ROW_END = re.compile(r"\t(\d{13})$", re.ASCII)
_STATES = (
    "Starting|Pending|LaunchingMLInstances|PreparingTrainingStack|Downloading|DownloadingTrainingImage|Training|Uploading|"
    "Stopping|Stopped|MaxRuntimeExceeded|MaxWaitTimeExceeded|Interrupted|Restarting|Completed|Failed"
)
_OF_THE_SDK = re.compile(
    rf"\d{{4}}-\d{{2}}-\d{{2}} \d{{2}}:\d{{2}}:\d{{2}} (?:{_STATES}) - .*"
    r"|(?:Training|Billable) seconds: \d+|Managed Spot Training savings: .*"
)
"""Lines that the SDK prints between those of a log."""
_SDK_ERROR = "UnexpectedStatusException: Error for Training job"


class UnreadFormError(Exception):
    """A form that is recognised, and from which the end of the log cannot be told. Its text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedEvent:
    """One message."""

    message: str
    """May have several lines."""
    time: float | None = None
    """Seconds, or whatever the source counts in."""
    stream: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedEvents:
    """The events of a file."""

    events: Sequence[SavedEvent]
    """In the order of the file."""
    ordered: bool = True
    """Whether events of the same time are in the order in which they were written."""
    unsure: str | None = None
    """Why the last event need not be the last of the log."""


def document_events(text: str) -> SavedEvents | None:
    """Events of a JSON document; None for a text that only begins like one.

    `UnreadFormError` for a document of something else.
    """
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = _each_event(text)
        return None if found is None else SavedEvents(events=found)
    if isinstance(document, dict) and "results" in document:
        return _query_results(document)
    if isinstance(document, dict) and not (_OF_AN_EVENT & document.keys()):
        events = document.get("events")
        cut = next((name for name in ("NextToken", "nextToken") if document.get(name)), None)
        if not isinstance(events, list):
            raise UnreadFormError("it is a JSON document without log events")
        unsure = f"the answer has a {cut}, so more events follow" if cut else None
        return SavedEvents(events=[_event(each) for each in events], unsure=unsure)
    items = document if isinstance(document, list) else [document]
    if items and all(isinstance(each, list) for each in items):
        return _query_results({"results": items})
    if not any(isinstance(each, dict) for each in items):
        texts = bool(items) and all(isinstance(each, str) for each in items)
        return SavedEvents(events=[SavedEvent(message=each) for each in items]) if texts else None
    # Logs Insights, as the console saves it: the newest first, and no order among events of one time.
    insights = any(isinstance(each, dict) and "@message" in each for each in items)
    return SavedEvents(events=_with_times([_event(each) for each in items]), ordered=not insights)


def _each_event(text: str) -> list[SavedEvent] | None:
    """Documents one after the other, as `jq '.events[]'` prints them."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text):
        try:
            document, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        if not isinstance(document, dict) or not _OF_AN_EVENT & document.keys() or "message" not in document:
            return None
        found.append(_event(document))
        at += len(text[at : at + 4096]) - len(text[at : at + 4096].lstrip())
    return found or None


def _event(given: Any) -> SavedEvent:
    if not isinstance(given, Mapping):
        raise UnreadFormError("it is a JSON document without log events")
    named = {str(name).lower(): value for name, value in given.items()}
    message = next((named[name] for name in _MESSAGES if name in named), None)
    if message is None:
        raise UnreadFormError("it is a JSON document without log events: they have no message")
    time = next((named[name] for name in _TIMES if name in named), None)
    stream = next((named[name] for name in _STREAM_COLUMNS if name in named), "")
    return SavedEvent(message=str(message), time=_seconds(time), stream=str(stream or ""))


def _query_results(document: Mapping[str, Any]) -> SavedEvents:
    """Events of `aws logs get-query-results`."""
    rows = document["results"]
    if not isinstance(rows, list) or not all(isinstance(each, list) for each in rows):
        raise UnreadFormError("it is a JSON document without log events")
    fields = [
        {str(field.get("field")): field.get("value") for field in each if isinstance(field, Mapping)} for each in rows
    ]
    status = document.get("status", "Complete")
    unsure = None if status == "Complete" else f"the query of Logs Insights was {status} when it was saved"
    return SavedEvents(events=_with_times([_event(each) for each in fields]), ordered=False, unsure=unsure)


def table_events(text: str) -> SavedEvents | None:
    """Events of a CSV of CloudWatch's console or of Logs Insights; None if the text does not begin as one.

    Raises `UnreadFormError` for a table without a column of messages or of times.
    """
    first = next((line for line in text.split("\n") if line.strip()), "")
    text = text.replace("\r", _RETURN)
    for separator in _SEPARATORS:
        names = [name.strip().strip('"').lower() for name in first.split(separator)]
        if _is_header(names):
            break
    else:
        return None
    message, time = _column(names, _MESSAGES), _column(names, _TIMES)
    if message is None:
        raise UnreadFormError("the table has no column message or @message")
    if time is None:
        raise UnreadFormError("the table has no column timestamp or @timestamp, so its last line is not known")
    stream = _column(names, _STREAM_COLUMNS)
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row][1:]
    except csv.Error as error:
        raise UnreadFormError(f"the table cannot be read: {error}") from error
    last = max(message, time)
    if any(len(row) <= last for row in rows):
        if separator == "\t":  # a copy of the console's page begins in this way too
            return None
        raise UnreadFormError("rows of the table have too few columns: the file is damaged, or not the whole table")
    events = [
        SavedEvent(
            message=row[message].replace(_RETURN, "\r"),
            time=_seconds(row[time]),
            stream=row[stream] if stream is not None and stream < len(row) else "",
        )
        for row in rows
    ]
    return SavedEvents(events=_with_times(events), ordered=names[message] == "message")


def _is_header(names: Sequence[str]) -> bool:
    known = {
        *_MESSAGES,
        *_TIMES,
        *_STREAM_COLUMNS,
        "@log",
        "@ptr",
        "@ingestiontime",
        "ingestiontime",
        "@entity",
        "eventid",
    }
    own = [name for name in names if name in known]
    return any(name.startswith("@") for name in own) or (len(names) > 1 and {"message", "timestamp"} <= {*own})


def _column(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    return next((names.index(name) for name in wanted if name in names), None)


def _with_times(events: list[SavedEvent]) -> list[SavedEvent]:
    if any(event.time is None for event in events):
        raise UnreadFormError("not every event has a time that can be read, so the last line is not known")
    return events


def _seconds(when: Any) -> float | None:
    """A time as a number: milliseconds since 1970, or a text."""
    if isinstance(when, bool):
        return None
    try:
        number = float(when)
        return number if math.isfinite(number) else None
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        return datetime.fromisoformat(str(when).strip()).replace(tzinfo=None).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def row_events(text: str) -> SavedEvents | None:
    """Events of `aws logs get-log-events --output text`, or `filter-log-events`; None for other texts."""
    lines = text.split("\n")
    if not any(_ROW.match(line) for line in lines[:2]):
        return None
    events: list[SavedEvent] = []
    kept: list[str] | None = None
    stream = ""
    for line in lines:
        begun = _ROW.match(line)
        if begun is not None:
            stream, kept, line = begun["stream"] or "", [], line[begun.end() :]  # noqa: PLW2901 - the message
        if kept is None:
            continue  # tokens, and the streams that were searched
        ended = _ROW_END.search(line)
        kept.append(line[: ended.start()] if ended else line)
        if ended:
            events.append(SavedEvent(message="\n".join(kept), time=float(ended[1]), stream=stream))
            kept = None
    return SavedEvents(events=events)


def text_events(text: str, *, beginning: str) -> SavedEvents:
    """Events of any other text. `beginning` is that of the file, of which `text` may be only the end."""
    lines = text.removesuffix("\n").split("\n")
    first = next((line for line in beginning.split("\n") if not _is_of_the_page(line)), "")
    for form in (_TAILED, _TIMED):
        if form.match(_COLOURS.sub("", first)):
            return SavedEvents(events=[*_timed([line for line in lines if not _is_of_the_page(line)], form)])
    lines = [*_without_sdk(lines)]
    unsure = None
    if len([line for line in lines if line.strip()]) == 1 and "\t" in text.strip():
        unsure = "the file has one line with tabs, as --output text prints a list of messages"
    return SavedEvents(events=[SavedEvent(message=line) for line in lines], unsure=unsure)


def _is_of_the_page(line: str) -> bool:
    return not line.strip() or _OF_THE_PAGE.fullmatch(line.strip()) is not None


def _timed(lines: Iterable[str], form: "re.Pattern[str]") -> Iterator[SavedEvent]:
    stream = ""
    for line in lines:
        plain = _COLOURS.sub("", line) if line.startswith("\x1b") else line
        found = form.match(plain)
        if found is None:
            yield SavedEvent(message=line, stream=stream)  # more of the message before
            continue
        stream = found[2] if form is _TAILED else ""
        yield SavedEvent(message=plain[found.end() :], stream=stream)


def _without_sdk(lines: list[str]) -> Iterator[str]:
    """Without what the SDK prints around the log of a job: its states, and its own traceback."""
    if not any(_OF_THE_SDK.fullmatch(_COLOURS.sub("", line)) for line in lines):
        yield from lines
        return
    end = next((index for index, line in enumerate(lines) if _SDK_ERROR in line), len(lines))
    if end < len(lines):
        marks = [i for i, line in enumerate(lines[:end]) if line.startswith(("Traceback (most recent", "-" * 60))]
        end = marks[-1] if marks else end
    yield from (line for line in lines[:end] if not _OF_THE_SDK.fullmatch(_COLOURS.sub("", line)))


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

"""The forms in which the log of a job is saved, each read into events: tables, documents, and text with times."""

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from smlocal.base.quick_dataclass import dataclass

_MESSAGES = ("@message", "message")
_TIMES = ("@timestamp", "timestamp", "time")
_STREAMS = ("@logstream", "logstreamname", "logstream", "log stream", "log stream name")
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
    stream = next((named[name] for name in _STREAMS if name in named), "")
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
    stream = _column(names, _STREAMS)
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
    known = {*_MESSAGES, *_TIMES, *_STREAMS, "@log", "@ptr", "@ingestiontime", "ingestiontime", "@entity", "eventid"}
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

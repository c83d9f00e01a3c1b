"""The operations of CloudWatch Logs that are emulated."""

import hashlib
import heapq
import os
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from itertools import islice
from operator import itemgetter
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.logs.host_log import HostLog, LogEvent
from smlocal.endpoint.page_tokens import key_of, token_of
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.jobs.contract.statuses import JobPhase
from smlocal.jobs.logs.log_readers import log_path
from smlocal.jobs.logs.log_times import TimesIndex, in_milliseconds, times_path
from smlocal.sagemaker.contract.identity import partition
from smlocal.sagemaker.name import NAME

GROUP: Final = "/aws/sagemaker/TrainingJobs"

_STREAM = re.compile(r"(?P<job>[a-zA-Z0-9-]+)/(?P<host>[a-zA-Z0-9-]+)-(?P<second>\d+)", re.ASCII)
_LOG = ".log"


@dataclass(frozen=True, kw_only=True, slots=True)
class LogStream:
    """The log of one host."""

    name: str
    path: str
    created: float
    """When its job was: also the number in its name."""
    complete: bool
    """True once nothing will be appended."""

    def open(self) -> HostLog:
        """Open the log; `FileNotFoundError` if its job has been removed."""
        return HostLog(self.path, complete=self.complete, created=self.created, now=time.time())

    def times(self) -> tuple[int, int] | None:
        """The times of its first and its last bytes, in milliseconds; None without any."""
        index = TimesIndex(times_path(self.path))
        try:
            return (in_milliseconds(index[0][1]), in_milliseconds(index[len(index) - 1][1])) if index else None
        finally:
            index.close()


def group_arn(serving: Serving, region: str) -> str:
    """The ARN of the group."""
    return f"arn:{partition(region)}:logs:{region}:{serving.account}:log-group:{GROUP}"


def check_group(serving: Serving, call: AwsCall) -> None:
    """`ServiceError` if the call is not for the group of training jobs."""
    name, identifier = call.parameters.get("logGroupName"), call.parameters.get("logGroupIdentifier")
    if (name is None) == (identifier is None):
        raise invalid_parameter("Specify either logGroupName or logGroupIdentifier, and not both.")
    arn = group_arn(serving, call.region)
    if name != GROUP and identifier not in {GROUP, arn, f"{arn}:*"}:
        raise unknown_group()


def find_stream(serving: Serving, name: str) -> LogStream:
    """The stream of this name."""
    found = _STREAM.fullmatch(name)
    if found is not None:
        for stream in _streams_of(serving, found["job"]):
            if stream.name == name:
                return stream
    raise unknown_stream()


def streams_in_order(
    serving: Serving, prefix: str = "", *, descending: bool = False, begin: str | None = None
) -> Iterator[LogStream]:
    """Those whose names begin so, by name. Each job is looked up when it is needed; those before `begin` are not."""
    job, slash, _ = prefix.partition("/")
    jobs = [job] if slash else sorted(serving.store.names(job, platform=NAME), key=_as_in_streams, reverse=descending)
    if begin is not None:
        first = _as_in_streams(begin.partition("/")[0])
        jobs = [each for each in jobs if _as_in_streams(each) == first or (_as_in_streams(each) < first) == descending]
    for each in jobs:
        found = [stream for stream in _streams_of(serving, each) if stream.name.startswith(prefix)]
        yield from sorted(found, key=lambda stream: stream.name, reverse=descending)


def streams_since(serving: Serving, since: int) -> Iterator[LogStream]:
    """Those of all jobs that were written to at this time or later; it is given in milliseconds."""
    for job in serving.store.names(platform=NAME):
        with suppress(OSError):
            paths = (entry.stat().st_mtime for entry in os.scandir(_logs(serving, job)))
            if in_milliseconds(max(paths, default=0.0)) >= since:
                yield from _streams_of(serving, job)


def stream_document(stream: LogStream, serving: Serving, region: str) -> dict[str, Any]:
    """As DescribeLogStreams shows it."""
    times = stream.times()
    seen = {} if times is None else {"firstEventTimestamp": times[0], "lastEventTimestamp": times[1]}
    return {
        "logStreamName": stream.name,
        "creationTime": in_milliseconds(stream.created),
        **seen,
        **({} if times is None else {"lastIngestionTime": times[1]}),
        "arn": f"{group_arn(serving, region)}:log-stream:{stream.name}",
        "storedBytes": 0,
    }


def _as_in_streams(job: str) -> str:
    """`a-b/…` comes before `a/…`."""
    return f"{job}/"


def _streams_of(serving: Serving, job: str) -> list[LogStream]:
    try:
        record = serving.store.get(job)
        files = os.listdir(_logs(serving, job))
    except (JobUnknownError, FileNotFoundError):
        return []
    if record.platform != NAME:
        return []
    complete = record.status.terminal or record.phase is JobPhase.UPLOADING
    hosts = [file.removesuffix(_LOG) for file in files if file.endswith(_LOG)]
    return [
        LogStream(
            name=f"{job}/{host}-{int(record.created)}",
            path=log_path(serving.store.directory(job), host),
            created=record.created,
            complete=complete,
        )
        for host in hosts
    ]


def _logs(serving: Serving, job: str) -> str:
    return os.path.dirname(log_path(serving.store.directory(job), ""))


# How CloudWatch Logs refuses.


def invalid_parameter(message: str) -> ServiceError:
    """A parameter that does not fit."""
    return ServiceError("InvalidParameterException", message)


def invalid_token() -> ServiceError:
    """A nextToken that did not come from here."""
    return invalid_parameter("The specified nextToken is invalid.")


def unknown_group() -> ServiceError:
    """Any group but that of training jobs."""
    return ServiceError("ResourceNotFoundException", "The specified log group does not exist.")


def unknown_stream() -> ServiceError:
    """A host that no job has, or that has not started."""
    return ServiceError("ResourceNotFoundException", "The specified log stream does not exist.")


# Tokens of pages. Those of GetLogEvents are positions, in the form that the service gives them.

_POSITION = re.compile(r"(?P<direction>[fb])/(?P<position>\d{20})/s", re.ASCII)


def position_token(direction: str, position: int) -> str:
    """A token of GetLogEvents: `f` goes forward from a position of the log, `b` backward."""
    return f"{direction}/{position:020d}/s"


def read_position_token(token: str) -> tuple[str, int]:
    """The direction and the position."""
    found = _POSITION.fullmatch(token)
    if found is None:
        raise invalid_token()
    return found["direction"], int(found["position"])


def read_key_token(token: str, *types: type) -> tuple[Any, ...]:
    """The key of the last item; it has these types."""
    try:
        return key_of(token, *types)
    except ValueError:
        raise invalid_token() from None


MOST_EVENTS: Final = 10_000
MOST_BYTES: Final = 1 << 20


def get_log_events(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page, with a token for each direction. At either end of the stream, the token that was given is returned."""
    asked = call.parameters
    check_group(serving, call)
    try:
        log = find_stream(serving, asked["logStreamName"]).open()
    except FileNotFoundError:
        raise unknown_stream() from None
    with log:
        low = log.first_at(asked.get("startTime", 0))
        high = log.first_at(asked["endTime"]) if "endTime" in asked else log.end
        token = asked.get("nextToken")
        if token is None:
            direction = "f" if asked.get("startFromHead") else "b"
            position = low if direction == "f" else max(low, high)
        else:
            direction, position = read_position_token(token)
        events = _page(log, (direction, position), (low, high), asked.get("limit", MOST_EVENTS))
    return {
        "events": [event_document(event) for event in events],
        "nextForwardToken": position_token("f", events[-1].end if events else position),
        "nextBackwardToken": position_token("b", events[0].begin if events else position),
    }


def event_document(event: LogEvent) -> dict[str, Any]:
    """The part of an event that all answers have. It is ingested at once."""
    return {"timestamp": event.timestamp, "message": event.message, "ingestionTime": event.timestamp}


def _page(log: HostLog, place: tuple[str, int], span: tuple[int, int], limit: int) -> list[LogEvent]:
    (direction, position), (low, high) = place, span
    if direction == "b":
        return log.events_before(low, min(position, high), limit=limit, size=MOST_BYTES)
    events: list[LogEvent] = []
    size = 0
    for event in islice(log.events(max(position, low), high), limit):
        size += event.counted
        if size > MOST_BYTES and events:
            break
        events.append(event)
    return events


_MOST_SEARCHED: Final = 8 << 20
"""Bytes that one call searches. A page may then be empty, and have a token."""

Key = tuple[int, str, int]
"""The sort key of events: time, stream, position."""


def filter_log_events(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of the events that match. There is a token only if more may follow."""
    asked = call.parameters
    check_group(serving, call)
    if asked.get("startFromHead") is False:
        raise invalid_parameter("smlocal does not emulate startFromHead=false here. GetLogEvents reads from the end.")
    matches = compile_pattern(asked.get("filterPattern", ""))
    token, limit = asked.get("nextToken"), asked.get("limit", MOST_EVENTS)
    last: Key | None = None if token is None else read_key_token(token, int, str, int)
    documents: list[dict[str, Any]] = []
    size = searched = 0
    more = False
    with ExitStack() as opened:
        events = _merged(_streams(serving, asked), asked.get("startTime", 0), last, opened)
        for key, event in events:
            if key[0] > asked.get("endTime", key[0]):
                break
            if matches(event.message):
                size += event.counted
                more = len(documents) == limit or (size > MOST_BYTES and bool(documents))
                if more:
                    break
                documents.append(event_document(event) | {"logStreamName": key[1], "eventId": _event_id(key)})
            last = key
            searched += event.end - event.begin
            more = searched > _MOST_SEARCHED
            if more:
                break
    token = token_of(*last) if more and last is not None else None
    return {"events": documents, "searchedLogStreams": [], **({} if token is None else {"nextToken": token})}


def _streams(serving: Serving, asked: dict[str, Any]) -> list[LogStream]:
    names, prefix = asked.get("logStreamNames"), asked.get("logStreamNamePrefix")
    if names and prefix:
        raise invalid_parameter("Specify either logStreamNames or logStreamNamePrefix, and not both.")
    if names:
        return [find_stream(serving, name) for name in dict.fromkeys(names)]
    if prefix:
        return list(streams_in_order(serving, prefix))
    return list(streams_since(serving, asked.get("startTime", 0)))


def _merged(
    streams: list[LogStream], since: int, after: Key | None, opened: ExitStack
) -> Iterator[tuple[Key, LogEvent]]:
    """Events after a key, by key. A log is opened when its time has come: a group may have thousands."""
    since = since if after is None else max(since, after[0])
    waiting: list[tuple[Key, LogEvent | None, Iterator[LogEvent]]] = []
    for stream in streams:
        events = _events(stream, since)
        opened.callback(events.close)
        heapq.heappush(waiting, ((max(since, in_milliseconds(stream.created)), stream.name, -1), None, events))
    while waiting:
        key, event, remaining = heapq.heappop(waiting)
        if event is not None and (after is None or key > after):
            yield key, event
        following = next(remaining, None)
        if following is not None:
            heapq.heappush(waiting, ((following.timestamp, key[1], following.begin), following, remaining))


def _events(stream: LogStream, since: int) -> Generator[LogEvent, None, None]:
    try:
        log = stream.open()
    except FileNotFoundError:
        return
    with log:
        yield from log.events(log.first_at(since), log.end)


def _event_id(key: Key) -> str:
    """56 digits, always the same for the same event."""
    at, stream, position = key
    number = int.from_bytes(hashlib.sha256(stream.encode()).digest()[:8])
    return f"{at:016d}{number:020d}{position:020d}"


# Filter patterns for lines of text: terms, quoted phrases, `-` for terms that must not occur, `?` for one of several.

_TERM = re.compile(r'(?P<sign>[?-]?)(?:"(?P<phrase>(?:[^"\\]|\\.)*)"|(?P<word>[A-Za-z0-9_]+))(?=\s|$)', re.ASCII)
_ESCAPED = re.compile(r"\\(.)")
_OTHER_KINDS = {"{": "JSON patterns", "[": "space-delimited patterns", "%": "regular expressions"}


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """A function that is true for messages that match. Case counts, and a term may be a part of a word."""
    wanted: list[str] = []
    unwanted: list[str] = []
    any_of: list[str] = []
    lists = {"": wanted, "-": unwanted, "?": any_of}
    rest = pattern.strip()
    if rest[:1] in _OTHER_KINDS:
        raise invalid_parameter(f"Invalid filter pattern: smlocal does not emulate {_OTHER_KINDS[rest[0]]}.")
    while rest:
        found = _TERM.match(rest)
        if found is None:
            raise invalid_parameter(
                "Invalid filter pattern: a term with characters other than letters, digits and _ must be in quotes."
            )
        phrase = found["phrase"]
        lists[found["sign"]].append(found["word"] if phrase is None else _ESCAPED.sub(r"\1", phrase))
        rest = rest[found.end() :].lstrip()
    if any_of and (wanted or unwanted):
        raise invalid_parameter("Invalid filter pattern: smlocal does not emulate ? together with other terms.")

    def matches(message: str) -> bool:
        return (
            all(term in message for term in wanted)
            and not any(term in message for term in unwanted)
            and (not any_of or any(term in message for term in any_of))
        )

    return matches


_STREAMS_ON_A_PAGE = 50

_Keyed = tuple[tuple[Any, ...], LogStream]
"""A stream with what it is sorted by."""


def describe_log_groups(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The group of training jobs is the only one."""
    asked = call.parameters
    arn = group_arn(serving, call.region)
    identifiers = asked.get("logGroupIdentifiers")
    fits = (
        GROUP.startswith(asked.get("logGroupNamePrefix", ""))
        and asked.get("logGroupNamePattern", "").lower() in GROUP.lower()
        and (not identifiers or bool({GROUP, arn, f"{arn}:*"} & set(identifiers)))
        and asked.get("logGroupClass", "STANDARD") == "STANDARD"
    )
    group = {
        "logGroupName": GROUP,
        "creationTime": 0,
        "metricFilterCount": 0,
        "arn": f"{arn}:*",
        "storedBytes": 0,
        "logGroupClass": "STANDARD",
        "logGroupArn": arn,
    }
    return {"logGroups": [group] if fits else []}


def describe_log_streams(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of streams. There is a token only if more follow: SDKs ask for the first page again and again."""
    asked = call.parameters
    check_group(serving, call)
    limit, descending = asked.get("limit", _STREAMS_ON_A_PAGE), asked.get("descending", False)
    token, prefix = asked.get("nextToken"), asked.get("logStreamNamePrefix", "")
    if asked.get("orderBy") == "LastEventTime":
        if prefix:
            raise invalid_parameter("Cannot order by LastEventTime with a logStreamNamePrefix.")
        after = None if token is None else read_key_token(token, int, str)
        streams: Iterable[_Keyed] = sorted(
            (((_last_time(each), each.name), each) for each in streams_in_order(serving)),
            reverse=descending,
            key=itemgetter(0),
        )
    else:
        after = None if token is None else read_key_token(token, str)
        begin = None if after is None else after[0]
        ordered = streams_in_order(serving, prefix, descending=descending, begin=begin)
        streams = (((each.name,), each) for each in ordered)
    rest = (pair for pair in streams if after is None or (pair[0] < after if descending else pair[0] > after))
    found = list(islice(rest, limit + 1))
    page = found[:limit]
    return {
        "logStreams": [stream_document(each, serving, call.region) for _, each in page],
        **({"nextToken": token_of(*page[-1][0])} if len(found) > limit else {}),
    }


def _last_time(stream: LogStream) -> int:
    times = stream.times()
    return 0 if times is None else times[1]


HANDLERS: Mapping[str, Handler] = {
    "DescribeLogGroups": describe_log_groups,
    "DescribeLogStreams": describe_log_streams,
    "FilterLogEvents": filter_log_events,
    "GetLogEvents": get_log_events,
}

"""The operations of CloudWatch Logs that are emulated."""

import hashlib
import heapq
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from operator import itemgetter
from typing import Any, Final

from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall
from smlocal.endpoint.logs.host_log import HostLog, LogEvent
from smlocal.endpoint.logs.streams import (
    Group,
    LogStream,
    all_groups,
    called_group,
    find_stream,
    invalid_parameter,
    invalid_token,
    stream_document,
    streams_in_order,
    streams_since,
    unknown_stream,
)
from smlocal.endpoint.page_tokens import key_of, token_of
from smlocal.endpoint.serving import Serving
from smlocal.jobs.logs.log_readers import in_milliseconds

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
    group = called_group(serving, call)
    try:
        log = find_stream(serving, group, asked["logStreamName"]).open()
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
    group = called_group(serving, call)
    if asked.get("startFromHead") is False:
        raise invalid_parameter("smlocal does not emulate startFromHead=false here. GetLogEvents reads from the end.")
    matches = compile_pattern(asked.get("filterPattern", ""))
    token, limit = asked.get("nextToken"), asked.get("limit", MOST_EVENTS)
    last: Key | None = None if token is None else read_key_token(token, int, str, int)
    documents: list[dict[str, Any]] = []
    size = searched = 0
    more = False
    with ExitStack() as opened:
        events = _merged(_streams(serving, group, asked), asked.get("startTime", 0), last, opened)
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


def _streams(serving: Serving, group: Group, asked: dict[str, Any]) -> list[LogStream]:
    names, prefix = asked.get("logStreamNames"), asked.get("logStreamNamePrefix")
    if names and prefix:
        raise invalid_parameter("Specify either logStreamNames or logStreamNamePrefix, and not both.")
    if names:
        return [find_stream(serving, group, name) for name in dict.fromkeys(names)]
    if prefix:
        return list(streams_in_order(serving, group, prefix))
    return list(streams_since(serving, group, asked.get("startTime", 0)))


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


_GROUPS_ON_A_PAGE = _STREAMS_ON_A_PAGE = 50

_Keyed = tuple[tuple[Any, ...], LogStream]
"""A stream with what it is sorted by."""


def describe_log_groups(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of the groups of jobs and endpoints, by name."""
    asked = call.parameters
    if asked.get("logGroupClass", "STANDARD") != "STANDARD":
        return {"logGroups": []}
    prefix, pattern = asked.get("logGroupNamePrefix", ""), asked.get("logGroupNamePattern", "").lower()
    identifiers = set(asked.get("logGroupIdentifiers") or ())
    fitting = []
    for group in all_groups(serving):
        arn = group.arn(serving, call.region)
        named = not identifiers or bool({group.name, arn, f"{arn}:*"} & identifiers)
        if named and group.name.startswith(prefix) and pattern in group.name.lower():
            fitting.append((group, arn))
    token = asked.get("nextToken")
    after = "" if token is None else read_key_token(token, str)[0]
    found = [pair for pair in fitting if pair[0].name > after]
    page = found[: asked.get("limit", _GROUPS_ON_A_PAGE)]
    return {
        "logGroups": [_group_document(*pair) for pair in page],
        **({"nextToken": token_of(page[-1][0].name)} if len(found) > len(page) else {}),
    }


def _group_document(group: Group, arn: str) -> dict[str, Any]:
    return {
        "logGroupName": group.name,
        "creationTime": in_milliseconds(group.created),
        "metricFilterCount": 0,
        "arn": f"{arn}:*",
        "storedBytes": 0,
        "logGroupClass": "STANDARD",
        "logGroupArn": arn,
    }


def describe_log_streams(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of streams. There is a token only if more follow: SDKs ask for the first page again and again."""
    asked = call.parameters
    group = called_group(serving, call)
    limit, descending = asked.get("limit", _STREAMS_ON_A_PAGE), asked.get("descending", False)
    token, prefix = asked.get("nextToken"), asked.get("logStreamNamePrefix", "")
    if asked.get("orderBy") == "LastEventTime":
        if prefix:
            raise invalid_parameter("Cannot order by LastEventTime with a logStreamNamePrefix.")
        after = None if token is None else read_key_token(token, int, str)
        streams: Iterable[_Keyed] = sorted(
            (((_last_time(each), each.name), each) for each in streams_in_order(serving, group)),
            reverse=descending,
            key=itemgetter(0),
        )
    else:
        after = None if token is None else read_key_token(token, str)
        begin = None if after is None else after[0]
        ordered = streams_in_order(serving, group, prefix, descending=descending, begin=begin)
        streams = (((each.name,), each) for each in ordered)
    rest = (pair for pair in streams if after is None or (pair[0] < after if descending else pair[0] > after))
    found = list(islice(rest, limit + 1))
    page, arn = found[:limit], group.arn(serving, call.region)
    return {
        "logStreams": [stream_document(each, arn) for _, each in page],
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

"""FilterLogEvents: the events of several streams, by time."""

import hashlib
import heapq
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import Any, Final

from smlocal.job.logs.log_times import in_milliseconds
from smlocal.server.call import Call
from smlocal.server.logs.errors import invalid_parameter
from smlocal.server.logs.filter_pattern import compile_pattern
from smlocal.server.logs.host_log import LogEvent
from smlocal.server.logs.reading import MOST_BYTES, MOST_EVENTS, event_document
from smlocal.server.logs.streams import Stream, check_group, find_stream, streams_in_order, streams_since
from smlocal.server.logs.tokens import read_key_token
from smlocal.server.page_tokens import token_of
from smlocal.server.serving import Serving

_MOST_SEARCHED: Final = 8 << 20
"""Bytes that one call searches. A page may then be empty, and have a token."""

Key = tuple[int, str, int]
"""What events are sorted by: time, stream, position."""


def filter_log_events(serving: Serving, call: Call) -> dict[str, Any]:
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


def _streams(serving: Serving, asked: dict[str, Any]) -> list[Stream]:
    names, prefix = asked.get("logStreamNames"), asked.get("logStreamNamePrefix")
    if names and prefix:
        raise invalid_parameter("Specify either logStreamNames or logStreamNamePrefix, and not both.")
    if names:
        return [find_stream(serving, name) for name in dict.fromkeys(names)]
    if prefix:
        return list(streams_in_order(serving, prefix))
    return list(streams_since(serving, asked.get("startTime", 0)))


def _merged(streams: list[Stream], since: int, after: Key | None, opened: ExitStack) -> Iterator[tuple[Key, LogEvent]]:
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


def _events(stream: Stream, since: int) -> Generator[LogEvent, None, None]:
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

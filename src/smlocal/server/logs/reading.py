"""GetLogEvents: pages of one stream, in both directions."""

from itertools import islice
from typing import Any, Final

from smlocal.server.call import Call
from smlocal.server.logs.errors import unknown_stream
from smlocal.server.logs.host_log import HostLog, LogEvent
from smlocal.server.logs.streams import check_group, find_stream
from smlocal.server.logs.tokens import position_token, read_position_token
from smlocal.server.serving import Serving

MOST_EVENTS: Final = 10_000
MOST_BYTES: Final = 1 << 20


def get_log_events(serving: Serving, call: Call) -> dict[str, Any]:
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
    """What all answers say of an event. It is ingested at once."""
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

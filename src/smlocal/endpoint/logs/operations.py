"""The operations of CloudWatch Logs that are emulated: groups and streams of training jobs, and of each endpoint."""

import hashlib
import heapq
import os
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
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
from smlocal.jobs.kinds import showing
from smlocal.jobs.logs.log_file import log_path, times_path
from smlocal.jobs.logs.log_readers import TimesIndex, in_milliseconds
from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker import kinds
from smlocal.sagemaker.contract.identity import arn
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.named_endpoint import endpoint_of
from smlocal.terms.statuses import JobPhase

_ENDPOINTS: Final = "/aws/sagemaker/Endpoints/"
_STREAM = re.compile(r"(?P<job>[a-zA-Z0-9-]+)/(?P<host>[a-zA-Z0-9-]+)-(?P<second>\d+)(?:/data-log)?", re.ASCII)
_LOG = ".log"
_COMMON = 50
"""Characters that the names of all jobs of an endpoint begin with, if its own is longer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """A group of logs."""

    name: str
    platform: str
    """Of its jobs."""
    endpoint: str = ""
    """Its logs are of this endpoint alone; empty: of all jobs."""
    created: float = 0.0

    def arn(self, serving: Serving, region: str) -> str:
        """The ARN of the group."""
        return arn("logs", f"log-group:{self.name}", region=region, account=serving.account)

    def jobs(self, serving: Serving) -> Sequence[str]:
        """The names of its jobs, newest first."""
        if not self.endpoint:
            return serving.store.names(platform=self.platform)
        found = serving.store.names(self.endpoint[:_COMMON], platform=self.platform)
        return [each for each in found if endpoint_of(serving.store, each) == self.endpoint]


_OF_JOBS: Final = {
    each.log_group: Group(name=each.log_group, platform=each.name)
    for each in (kinds.TRAINING, *kinds.KINDS)
    if each.log_group
}
TRAINING: Final = _OF_JOBS[kinds.TRAINING.log_group]


@dataclass(frozen=True, kw_only=True, slots=True)
class LogStream:
    """The log of one host."""

    name: str
    path: str
    created: float
    """When its job was: also the number in the names of training jobs."""
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


def all_groups(serving: Serving) -> list[Group]:
    """Those that there are, by name."""
    names: dict[str, float] = {}
    for record in serving.store.list():
        if record.platform == facts.NAME:
            with suppress(JobUnknownError):  # it was removed meanwhile
                endpoint = endpoint_of(serving.store, record.name)
                names[endpoint] = min(record.created, names.get(endpoint, record.created))
    of_endpoints = [_of_endpoint(name, created=created) for name, created in names.items()]
    of_jobs = [each for each in _OF_JOBS.values() if each is TRAINING or each.jobs(serving)]
    return sorted([*of_endpoints, *of_jobs], key=lambda group: group.name)


def called_group(serving: Serving, call: AwsCall) -> Group:
    """The group that the call is for, or `ServiceError`."""
    name, identifier = call.parameters.get("logGroupName"), call.parameters.get("logGroupIdentifier")
    if (name is None) == (identifier is None):
        raise invalid_parameter("Specify either logGroupName or logGroupIdentifier, and not both.")
    stated = name if name is not None else str(identifier).removesuffix(":*").rpartition(":")[2]
    group = _OF_JOBS.get(stated) or _of_endpoint(stated.removeprefix(_ENDPOINTS))
    arn = group.arn(serving, call.region)
    if name != group.name and identifier not in {group.name, arn, f"{arn}:*"}:
        raise unknown_group()
    if group.endpoint and not group.jobs(serving):
        raise unknown_group()
    return group


def _of_endpoint(name: str, *, created: float = 0.0) -> Group:
    return Group(name=f"{_ENDPOINTS}{name}", platform=facts.NAME, endpoint=name, created=created)


def find_stream(serving: Serving, group: Group, name: str) -> LogStream:
    """The stream of this name."""
    found = _STREAM.fullmatch(name)
    jobs = group.jobs(serving) if group.endpoint else [] if found is None else [found["job"]]
    for job in jobs:
        for stream in _streams_of(serving, group, job):
            if stream.name == name:
                return stream
    raise unknown_stream()


def streams_in_order(
    serving: Serving, group: Group, prefix: str = "", *, descending: bool = False, begin: str | None = None
) -> Iterator[LogStream]:
    """Those whose names begin so, by name. Each job is looked up when it is needed; those before `begin` are not."""
    if group.endpoint:
        streams = (each for job in group.jobs(serving) for each in _streams_of(serving, group, job))
        fitting = (each for each in streams if each.name.startswith(prefix))
        yield from sorted(fitting, key=lambda stream: stream.name, reverse=descending)
        return
    job, slash, _ = prefix.partition("/")
    known = serving.store.names(job, platform=group.platform)
    jobs = [job] if slash else sorted(known, key=_as_in_streams, reverse=descending)
    if begin is not None:
        first = _as_in_streams(begin.partition("/")[0])
        jobs = [each for each in jobs if _as_in_streams(each) == first or (_as_in_streams(each) < first) == descending]
    for each in jobs:
        found = [stream for stream in _streams_of(serving, group, each) if stream.name.startswith(prefix)]
        yield from sorted(found, key=lambda stream: stream.name, reverse=descending)


def streams_since(serving: Serving, group: Group, since: int) -> Iterator[LogStream]:
    """Those of all jobs that were written to at this time or later; it is given in milliseconds."""
    for job in group.jobs(serving):
        with suppress(OSError):
            paths = (entry.stat().st_mtime for entry in os.scandir(_logs(serving, job)))
            if in_milliseconds(max(paths, default=0.0)) >= since:
                yield from _streams_of(serving, group, job)


def stream_document(stream: LogStream, group_arn: str) -> dict[str, Any]:
    """As DescribeLogStreams shows it."""
    times = stream.times()
    seen = {} if times is None else {"firstEventTimestamp": times[0], "lastEventTimestamp": times[1]}
    return {
        "logStreamName": stream.name,
        "creationTime": in_milliseconds(stream.created),
        **seen,
        **({} if times is None else {"lastIngestionTime": times[1]}),
        "arn": f"{group_arn}:log-stream:{stream.name}",
        "storedBytes": 0,
    }


def _as_in_streams(job: str) -> str:
    """`a-b/…` comes before `a/…`."""
    return f"{job}/"


def _streams_of(serving: Serving, group: Group, job: str) -> list[LogStream]:
    try:
        record = serving.store.get(job)
        files = os.listdir(_logs(serving, job))
    except (JobUnknownError, FileNotFoundError):
        return []
    if record.platform != group.platform:
        return []
    complete = record.status.terminal or record.phase is JobPhase.UPLOADING
    hosts = [file.removesuffix(_LOG) for file in files if file.endswith(_LOG)]
    return [
        LogStream(
            name=_instance_stream(record, host) if group.endpoint else _job_stream(record, host),
            path=log_path(serving.store.directory(job), host),
            created=record.created,
            complete=complete,
        )
        for host in hosts
    ]


def _job_stream(record: JobRecord, host: str) -> str:
    """`my-job/algo-1-1700000000`; that of what became of the input of a transform job is below that of its host."""
    first, *others = showing(record.platform).HOSTS or (host,)
    if host in others:
        return f"{record.name}/{first}-{int(record.created)}/{host}"
    return f"{record.name}/{host}-{int(record.created)}"


def _instance_stream(record: JobRecord, host: str) -> str:
    """`AllTraffic/i-0123456789abcdef0`, with the container behind it if the instance has several.

    The host is VARIANT or VARIANT.NUMBER, and then `.CONTAINER`.
    """
    variant, *rest = host.split(".")
    number = rest.pop(0) if rest and rest[0].isdecimal() else "1"
    instance = hashlib.sha256(f"{record.run_id}/{variant}/{number}".encode()).hexdigest()[:16]
    return "/".join([variant, f"i-0{instance}", *rest])


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
    """A group that there is not here."""
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

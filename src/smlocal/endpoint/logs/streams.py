"""Groups and streams of logs: the one of training jobs, and one for each endpoint."""

import hashlib
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.logs.host_log import HostLog
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.jobs.kinds import showing
from smlocal.jobs.logs.log_readers import TimesIndex, in_milliseconds, log_path, times_path
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

"""The log group of training jobs, and its streams: one for each host that has started, `JOB/algo-1-1790000000`."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.logs.host_log import HostLog
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
        """Of its first and its last bytes, in milliseconds; None without any."""
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

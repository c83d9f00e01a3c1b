"""The last lines of a job's log in CloudWatch."""

from typing import Any

from smlocal.errors import ServiceRefusedError, SmlocalError
from smlocal.remote.job_end import LINES, LogEnd
from smlocal.remote.service import LOG_GROUP, Service

_STREAMS = 50
_MOST_PAGES = 5
"""CloudWatch may answer with an empty page although there are more events."""


def service_log(service: Service, job: str, *, host: str, region: str | None = None) -> LogEnd:
    """The end of one host's log, or of the first host's if it has none. What prevents that is said, and no error."""
    try:
        streams = _streams(service, job, region)
        if not streams:
            return _missing(f"CloudWatch has no log of {job}: its retention is over, or no container has started")
        chosen = streams.get(host) or next(iter(streams.values()))
        lines = _last_events(service, chosen, region)
    except SmlocalError as error:
        if isinstance(error, ServiceRefusedError) and error.code == "ResourceNotFoundException":
            return _missing(f"CloudWatch has no log group {LOG_GROUP}, or the log has just been deleted")
        return _missing(f"the log cannot be read: {error.sentence}")
    if not lines:
        return _missing(f"the log of {job} is empty: its retention is over, or nothing was written")
    return LogEnd(lines={host_in(chosen): lines[-LINES:]})


def host_in(stream: str) -> str:
    """The host in the name of a stream: `job/algo-1-1700000000`."""
    name, _, number = stream.rpartition("/")[2].rpartition("-")
    return name if number.isdigit() and "-" in name else stream.rpartition("/")[2]


def _missing(why: str) -> LogEnd:
    return LogEnd(lines={}, missing=why)


def _streams(service: Service, job: str, region: str | None) -> dict[str, str]:
    """The newest stream of each host: a job that was started again has several."""
    answer = service.call(
        "logs",
        "DescribeLogStreams",
        region=region,
        logGroupName=LOG_GROUP,
        logStreamNamePrefix=f"{job}/",
        orderBy="LogStreamName",
        limit=_STREAMS,
    )
    found = sorted(answer.get("logStreams") or (), key=lambda each: each.get("creationTime") or 0)
    newest = {host_in(each["logStreamName"]): str(each["logStreamName"]) for each in found}
    return dict(sorted(newest.items()))


def _last_events(service: Service, stream: str, region: str | None) -> list[str]:
    lines: list[str] = []
    asked: dict[str, Any] = {"logGroupName": LOG_GROUP, "logStreamName": stream, "startFromHead": False, "limit": LINES}
    for _ in range(_MOST_PAGES):
        answer = service.call("logs", "GetLogEvents", region=region, **asked)
        lines = [line for event in answer["events"] for line in str(event["message"]).split("\n")] + lines
        token = answer.get("nextBackwardToken")
        if len(lines) >= LINES or token is None or token == asked.get("nextToken"):
            break
        asked["nextToken"] = token
    return lines

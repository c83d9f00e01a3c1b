"""Holds the Describe of a waiter until the job has ended, so that no client waits for its own clock.

botocore stops reading when nothing has come for 60 seconds. After 50 the answer begins: with white space, as JSON may.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from smlocal.contract.statuses import JobStatus
from smlocal.errors import SmlocalError
from smlocal.job.finish.describe import describe_job
from smlocal.server.call import Call
from smlocal.server.protocol.json_documents import encode
from smlocal.server.serving import Serving

_SILENT = 50.0
_BETWEEN = 15.0
_LONGEST = 600.0
"""Seconds. A waiter that gives up after so many questions does so later than it means to."""
_SHORT_CLOCK = 60.0
"""Seconds. A waiter that asks again this soon was told to, and needs no help: it gives up when it means to."""


async def hold(serving: Serving, call: Call, request: Request) -> None:
    """Return at once, or for the Describe of a waiter when the job has ended or it is time to answer.

    `ClientDisconnect` if the client does not wait any longer.
    """
    name = call.parameters.get("TrainingJobName", "")
    if not _is_held(serving, call.operation, name, request):
        return
    ended = asyncio.ensure_future(serving.status_watch.until_ended(name, seconds=_SILENT))
    gone = asyncio.ensure_future(request.receive())  # the body was read: only the end of the connection can come
    try:
        await asyncio.wait({ended, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            raise ClientDisconnect
        await ended
    finally:
        ended.cancel()
        gone.cancel()


def goes_on(serving: Serving, operation: str, answer: Mapping[str, Any], request: Request) -> bool:
    """True if the answer to a waiter would be that its job has not ended."""
    name = answer.get("TrainingJobName", "")
    if serving.status_watch.over or not _is_held(serving, operation, name, request):
        return False
    return not JobStatus(answer["TrainingJobStatus"]).terminal


async def later_answer(serving: Serving, answer: Mapping[str, Any]) -> AsyncIterator[bytes]:
    """White space while the job runs, then how the job is described."""
    name, end = answer["TrainingJobName"], time.monotonic() + _LONGEST - _SILENT
    while not await serving.status_watch.until_ended(name, seconds=_BETWEEN) and time.monotonic() < end:
        yield b" "
    serving.status_watch.answered[name] = time.monotonic()
    with suppress(SmlocalError):  # it was removed: the waiter asks again
        answer = await run_in_threadpool(describe_job, serving.store, name, service=True)
    yield encode(answer)


def _is_held(serving: Serving, operation: str, name: str, request: Request) -> bool:
    if operation != "DescribeTrainingJob" or not by_waiter(request.headers.get("user-agent", "")):
        return False
    return time.monotonic() - serving.status_watch.answered.get(name, float("-inf")) > _SHORT_CLOCK


def by_waiter(user_agent: str) -> bool:
    """True if botocore says that a waiter makes the call: the letter B in the features `m/…` of its User-Agent."""
    features = next((part[2:] for part in user_agent.split() if part.startswith("m/")), "")
    return "B" in features.split(",")

"""Holds the Describe of a waiter until the job has ended, so that no client waits for its own clock."""

import asyncio

from starlette.requests import ClientDisconnect, Request

from smlocal.server.call import Call
from smlocal.server.serving import Serving

_LONGEST = 50.0
"""Seconds. botocore gives up reading after 60."""


async def hold(serving: Serving, call: Call, request: Request) -> None:
    """Return at once, or for the Describe of a waiter when the job has ended or it is time to answer.

    `ClientDisconnect` if the client does not wait any longer.
    """
    if call.operation != "DescribeTrainingJob" or not by_waiter(request.headers.get("user-agent", "")):
        return
    name = call.parameters["TrainingJobName"]
    ended = asyncio.ensure_future(serving.status_watch.until_ended(name, seconds=_LONGEST))
    gone = asyncio.ensure_future(request.receive())  # the body was read: only the end of the connection can come
    try:
        await asyncio.wait({ended, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            raise ClientDisconnect
        await ended
    finally:
        ended.cancel()
        gone.cancel()


def by_waiter(user_agent: str) -> bool:
    """True if botocore says that a waiter makes the call: the letter B in the features `m/…` of its User-Agent."""
    features = next((part[2:] for part in user_agent.split() if part.startswith("m/")), "")
    return "B" in features.split(",")

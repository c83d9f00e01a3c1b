"""Holds the Describe of a waiter until the job has ended, so that no client waits for its own clock."""

from starlette.requests import Request

from smlocal.server.call import Call
from smlocal.server.serving import Serving

_LONGEST = 50.0
"""Seconds. botocore gives up reading after 60."""


async def hold(serving: Serving, call: Call, request: Request) -> None:
    """Return at once, or for the Describe of a waiter when the job has ended or it is time to answer."""
    if call.operation == "DescribeTrainingJob" and by_waiter(request.headers.get("user-agent", "")):
        await serving.status_watch.until_ended(call.parameters["TrainingJobName"], seconds=_LONGEST)


def by_waiter(user_agent: str) -> bool:
    """True if botocore says that a waiter makes the call: the letter B in the features `m/…` of its User-Agent."""
    features = next((part[2:] for part in user_agent.split() if part.startswith("m/")), "")
    return "B" in features.split(",")

"""What the service states about batch transform: limits, defaults, names and sentences. Pure."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

NAME: Final = "sagemaker_transform"
"""The name of this kind of jobs in the store."""
IN_ARN: Final = "transform-job"
HOST: Final = "algo-1"
"""The only host."""
DATA_LOG: Final = "data-log"
"""The log of what became of the input, beside that of the container."""
STARTUP_SECONDS: Final = 1800
"""Until the first ping must have been answered (said by a developer of the service)."""
INVOCATION_SECONDS: Final = 600
"""For the answer to a request, without ModelClientConfig."""
RETRIES: Final = 3
"""After a request that failed, without ModelClientConfig."""
CONCURRENT: Final = 1
PAYLOAD_MB: Final = 6
MOST_MB: Final = 100
"""Of MaxPayloadInMB, and of its product with MaxConcurrentTransforms."""
MOST_INSTANCES: Final = 100
"""Of TransformResources (the API reference; the service model has no limit)."""
MOST_SAID: Final = 1000
"""Of the MaxConcurrentTransforms that a container states: one for each of its CPUs is usual."""
MEGABYTE: Final = 1 << 20
REQUEST: Final = "the request"
CONTAINER: Final = "/execution-parameters"
DEFAULT: Final = "the default"
"""Who has said how records are sent."""
NO_OBJECT: Final = (
    f"the answer to {CONTAINER} is not a JSON object of at most 64 KiB, and is ignored; parameters that the "
    "request leaves out have their defaults"
)
_MESSAGE_SHOWN: Final = 200
"""Characters of a container's message in a sentence."""
_SHOWN: Final = 60
"""Characters of a value that a container has said."""
MULTI, SINGLE = "MULTI_RECORD", "SINGLE_RECORD"
STRATEGIES: Final = {"MultiRecord": MULTI, "SingleRecord": SINGLE}
"""The words of a request, and those that containers know."""
OUT: Final = ".out"
END_SECONDS: Final = 2
"""From SIGTERM to SIGKILL when everything is transformed: inferred."""
USER_AGENT: Final = "Go-http-client/1.1"
"""The client that logs of containers show."""

SEE_LOGS_CLIENT: Final = "ClientError: See job logs for more information"
SEE_LOGS: Final = "AlgorithmError: See job logs for more information"
NO_PING: Final = (
    "AlgorithmError: Model container failed to respond to ping. Please ensure /ping endpoint is implemented and "
    "responds with an HTTP 200 status code"
)
NO_DATA_SOURCE: Final = (
    "SageMaker Batch currently doesn't support Model entity with container definitions which use ModelDataSource "
    "attribute"
)
"""The answer to a request (seen)."""
NO_ANSWER: Final = "Unable to get response from algorithm"
TOO_LARGE: Final = "Too much data for max payload size"
HELD_TOO_LARGE: Final = (
    "With MaxPayloadInMB 0, an object that is filtered or joined, and a record that is sent alone, have at most 100 MB"
)
"""Our own limit, of memory."""


def timed_out(seconds: float) -> str:
    """A container did not answer in time (seen)."""
    return f"Model server did not respond to /invocations request within {seconds:g} seconds"


def answer_too_large(most: int) -> str:
    """An answer that would be parsed (our own limit)."""
    return f"The answer has more than {most // MEGABYTE} MB, and is too large to be filtered or joined"


def too_many_at_once(concurrent: int, payload: int, *, source: str = REQUEST) -> str:
    """The sum of what may be sent at once is above the limit of the API reference. `source`: who said the payload."""
    fits = MOST_MB // concurrent
    cure = f"MaxPayloadInMB: {fits}" if fits else f"MaxConcurrentTransforms: {MOST_MB // payload}"
    return (
        f"MaxConcurrentTransforms times MaxPayloadInMB, {concurrent} ({REQUEST}) times {payload} MB ({source}), "
        f"is above {MOST_MB}: set {cure} or less"
    )


def ignored(name: str, value: Any, wanted: str, used: str) -> str:
    """A container has said something at /execution-parameters that does not count."""
    said = "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else json.dumps(value)
    shown = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
    return f"/execution-parameters has {name}: {shown}, which is not {wanted}; it is ignored, and {used} is used"


def fewer_at_once(concurrent: int, payload: int, at_once: int, *, source: str) -> str:
    """A container has asked for more requests at once than fit in the memory that the service allows."""
    size = f"{payload} MB ({source})" if payload else f"whole objects ({source})"
    return (
        f"MaxConcurrentTransforms: {concurrent} ({CONTAINER}) of {size} may be more than {MOST_MB} MB at once; "
        f"{at_once} {'is' if at_once == 1 else 'are'} sent at once"
    )


def said_too_much(name: str, value: int, most: int) -> str:
    """A container has answered so to /execution-parameters."""
    return f"/execution-parameters has a {name} of at most {most}, not {value}"


def bad_status(status: int, message: str) -> Sequence[str]:
    """The lines about an answer that is an error (seen)."""
    first = f"ClientError: {status}" if 400 <= status < 500 else f"Bad HTTP status received from algorithm: {status}"  # noqa: PLR2004 - HTTP
    return [first, "", "Message:", *message.rstrip("\n").split("\n")]


def answered(status: int, message: str) -> str:
    """The same in one sentence, ours."""
    shown = " ".join(message.split())
    text = shown if len(shown) <= _MESSAGE_SHOWN else f"{shown[:_MESSAGE_SHOWN]}…"
    return f"the container answered {status}{f': {text}' if text else ' and nothing else'}"


def parameters_line(*, concurrent: int, payload: int, strategy: str) -> str:
    """The first line of the data log (seen)."""
    return f"MaxConcurrentTransforms={concurrent}, MaxPayloadInMB={payload}, BatchStrategy={strategy}"


def logged(at: float, text: str) -> str:
    """A line of the data log (seen)."""
    moment = datetime.fromtimestamp(at, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}:[sagemaker logs]: {text}"

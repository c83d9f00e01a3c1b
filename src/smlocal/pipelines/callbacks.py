"""What a Callback step sends: its token, its message, and the way to a queue of the user's."""

import json
import secrets
import string
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from smlocal.base.regex import regex
from smlocal.errors import ServiceRefusedError

TOKEN_LENGTH: Final = 10
"""As on the service, of letters and digits."""
_LETTERS: Final = string.ascii_letters + string.digits
_AWS_HOST: Final = regex(
    r"(?:sqs(?:-fips)?\.(?P<region>[a-z0-9-]+)|(?P<older>[a-z0-9-]+)\.queue)\.amazonaws\.com(?:\.cn)?|queue\.amazonaws\.com"
)


def made_token() -> str:
    """A token that nobody can guess: whoever has it can answer for the step."""
    return "".join(secrets.choice(_LETTERS) for _ in range(TOKEN_LENGTH))


def callback_message(
    token: str, *, execution_arn: str, arguments: Mapping[str, Any], stopping: bool = False
) -> dict[str, Any]:
    """The document that is the body of a message; `stopping`: of the second one, once the execution is to stop."""
    return {
        "token": token,
        "pipelineExecutionArn": execution_arn,
        "arguments": dict(arguments),
        "status": "Stopping" if stopping else "Executing",
    }


def send_message(queue_url: str, message: Mapping[str, Any], *, region: str | None = None) -> None:
    """Send it with the user's own configuration of AWS; a `SmlocalError` says in a sentence why that failed.

    The region of AWS's addresses is in them; `region` is for others, such as those of a local queue.
    """
    from smlocal.service.service import Service  # no other step asks AWS

    try:
        address = urlsplit(queue_url)
    except ValueError:
        address = urlsplit("")
    if address.scheme not in {"http", "https"} or not address.hostname:
        raise ServiceRefusedError(
            f"{queue_url[:200]!r} is no address of a queue",
            remedy=["Write it as SQS does: https://sqs.REGION.amazonaws.com/ACCOUNT/NAME."],
        )
    of_aws = _AWS_HOST.fullmatch(address.hostname or "")
    service = Service(
        region=((of_aws["region"] or of_aws["older"]) if of_aws else None) or region,
        endpoint_url=None if of_aws else f"{address.scheme}://{address.netloc}",
    )
    try:
        service.call("sqs", "SendMessage", QueueUrl=queue_url, MessageBody=json.dumps(message))
    finally:
        service.close()

"""Sends the messages of Callback steps to a queue of the user's own."""

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from smlocal.base.regex import regex
from smlocal.errors import SmlocalError

_AWS_HOST: Final = regex(
    r"(?:sqs(?:-fips)?\.(?P<region>[a-z0-9-]+)|(?P<older>[a-z0-9-]+)\.queue)\.amazonaws\.com(?:\.cn)?|queue\.amazonaws\.com"
)


def send_message(queue_url: str, message: Mapping[str, Any], *, region: str) -> str | None:
    """Send it with the user's own configuration of AWS; returns why that failed, or None.

    The region of AWS's addresses is in them; `region` is for others, such as those of a queue on this machine.
    """
    from smlocal.service.service import Service  # no other step asks AWS

    try:
        address = urlsplit(queue_url)
    except ValueError:
        address = urlsplit("")
    if address.scheme not in {"http", "https"} or not address.hostname:
        return (
            f"{queue_url[:200]!r} is not the address of a queue, such as https://sqs.REGION.amazonaws.com/ACCOUNT/NAME"
        )
    of_aws = _AWS_HOST.fullmatch(address.hostname)
    service = Service(
        region=((of_aws["region"] or of_aws["older"]) if of_aws else None) or region,
        endpoint_url=None if of_aws else f"{address.scheme}://{address.netloc}",
    )
    try:
        service.call("sqs", "SendMessage", QueueUrl=queue_url, MessageBody=json.dumps(message))
    except SmlocalError as error:
        return "; ".join([error.sentence, *error.details])
    finally:
        service.close()
    return None

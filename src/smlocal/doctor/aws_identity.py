"""Who AWS says the credentials belong to. Only this check sends a request to AWS, and only with --online."""

import time
from email.utils import parsedate_to_datetime
from typing import Any

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class AwsIdentity:
    """The answer of AWS."""

    arn: str = ""
    error: str = ""
    """Why there is no answer, or why the credentials were refused."""
    behind: float | None = None
    """Seconds by which this machine's clock is behind that of AWS; negative if it is ahead. None without an answer."""


def ask_aws_identity() -> AwsIdentity:
    """Ask STS with the configured credentials and endpoint."""
    import botocore.session
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    config = Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 2})
    try:
        session = botocore.session.Session()
        region = session.get_config_variable("region") or "us-east-1"
        before = time.time()
        answer: Any = session.create_client("sts", region_name=region, config=config).get_caller_identity()
    except ClientError as error:
        return AwsIdentity(error=str(error), behind=_behind(error.response, before))
    except BotoCoreError as error:
        return AwsIdentity(error=str(error))
    return AwsIdentity(arn=str(answer["Arn"]), behind=_behind(answer, before))


def _behind(answer: Any, before: float) -> float | None:
    stamp = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    try:
        return parsedate_to_datetime(stamp).timestamp() - (before + time.time()) / 2
    except (TypeError, ValueError):
        return None

"""Who AWS takes us for: the only question of all that leaves this machine, asked when somebody says so."""

import time
from email.utils import parsedate_to_datetime
from typing import Any

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """What AWS answered."""

    arn: str = ""
    trouble: str = ""
    """Why there is no answer, or what it says against these credentials."""
    behind: float | None = None
    """Seconds that our clock is behind that of AWS; negative when it is ahead. None without an answer."""


def ask_caller() -> Caller:
    """Ask STS, with whatever credentials and endpoint are configured."""
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
        return Caller(trouble=str(error), behind=_behind(error.response, before))
    except BotoCoreError as error:
        return Caller(trouble=str(error))
    return Caller(arn=str(answer["Arn"]), behind=_behind(answer, before))


def _behind(answer: Any, before: float) -> float | None:
    stamp = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    try:
        return parsedate_to_datetime(stamp).timestamp() - (before + time.time()) / 2
    except (TypeError, ValueError):
        return None

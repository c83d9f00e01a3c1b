"""The operations of STS that are emulated."""

from collections.abc import Mapping
from typing import Any

from smlocal.server.call import Call
from smlocal.server.operations import Handler
from smlocal.server.role_names import ROLE, SESSION, role_id, session_arn
from smlocal.server.serving import Serving


def get_caller_identity(serving: Serving, call: Call) -> dict[str, Any]:
    """A session of the role, as in a notebook or on an instance: SDKs find the execution role by it."""
    return {
        "UserId": f"{role_id(ROLE, account=serving.account)}:{SESSION}",
        "Account": serving.account,
        "Arn": session_arn(account=serving.account, region=call.region),
    }


HANDLERS: Mapping[str, Handler] = {"GetCallerIdentity": get_caller_identity}

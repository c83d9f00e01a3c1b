"""IAM and STS: who every caller is, and the names of roles. A server has no users and no roles of its own.

Every role exists, and may do everything: there is nothing to protect.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from itertools import product
from typing import Any
from urllib.parse import quote

from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall, ServiceError
from smlocal.endpoint.serving import Serving
from smlocal.sagemaker.contract.identity import arn

ROLE = "smlocal"
"""The role that every caller has assumed, whatever key it signs with."""
SESSION = "smlocal"

_ID_LENGTH = 17
_CREATED = 0.0
_SESSION_SECONDS = 3600
_PAGE = 100
_TRUST_POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}


def role_arn(name: str, *, account: str, region: str) -> str:
    """The ARN of a role without a path."""
    return arn("iam", f"role/{name}", region=region, account=account)


def session_arn(*, account: str, region: str) -> str:
    """The ARN of the caller."""
    return arn("sts", f"assumed-role/{ROLE}/{SESSION}", region=region, account=account)


def role_id(name: str, *, account: str) -> str:
    """An id in the form of the service, always the same for the same role."""
    digest = hashlib.sha256(f"{account}/{name}".encode()).digest()
    return f"AROA{base64.b32encode(digest).decode()[:_ID_LENGTH]}"


def get_caller_identity(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A session of the role, as in a notebook or on an instance: SDKs find the execution role by it."""
    return {
        "UserId": f"{role_id(ROLE, account=serving.account)}:{SESSION}",
        "Account": serving.account,
        "Arn": session_arn(account=serving.account, region=call.region),
    }


def get_role(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A role that SageMaker may assume."""
    name = call.parameters["RoleName"]
    return {
        "Role": {
            "Path": "/",
            "RoleName": name,
            "RoleId": role_id(name, account=serving.account),
            "Arn": role_arn(name, account=serving.account, region=call.region),
            "CreateDate": _CREATED,
            "AssumeRolePolicyDocument": quote(json.dumps(_TRUST_POLICY, separators=(",", ":")), safe=""),
            "MaxSessionDuration": _SESSION_SECONDS,
        }
    }


def simulate_principal_policy(_: Serving, call: AwsCall) -> dict[str, Any]:
    """A result for each pair of an action and a resource: all are allowed."""
    asked = call.parameters
    pairs = list(product(asked["ActionNames"], asked.get("ResourceArns") or ("*",)))
    begin = _position(asked.get("Marker"), len(pairs))
    end = begin + asked.get("MaxItems", _PAGE)
    more = end < len(pairs)
    return {
        "EvaluationResults": [_allowed(action, resource) for action, resource in pairs[begin:end]],
        "IsTruncated": more,
        **({"Marker": str(end)} if more else {}),
    }


def _allowed(action: str, resource: str) -> dict[str, Any]:
    return {
        "EvalActionName": action,
        "EvalResourceName": resource,
        "EvalDecision": "allowed",
        "MatchedStatements": [],
        "MissingContextValues": [],
    }


def _position(marker: str | None, count: int) -> int:
    if marker is None:
        return 0
    if not marker.isdecimal() or not marker.isascii() or len(marker) > len(str(count)) or int(marker) >= count:
        raise ServiceError("InvalidInput", "Invalid marker.")
    return int(marker)


IAM: Mapping[str, Handler] = {"GetRole": get_role, "SimulatePrincipalPolicy": simulate_principal_policy}
STS: Mapping[str, Handler] = {"GetCallerIdentity": get_caller_identity}

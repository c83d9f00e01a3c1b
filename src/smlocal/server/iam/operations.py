"""The operations of IAM that are emulated. Every role exists, and may do everything: there is nothing to protect."""

import json
from collections.abc import Mapping
from itertools import product
from typing import Any
from urllib.parse import quote

from smlocal.server.call import Call, ServiceError
from smlocal.server.operations import Handler
from smlocal.server.role_names import role_arn, role_id
from smlocal.server.serving import Serving

_CREATED = 0.0
_SESSION_SECONDS = 3600
_PAGE = 100
_TRUST_POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}


def get_role(serving: Serving, call: Call) -> dict[str, Any]:
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


def simulate_principal_policy(_: Serving, call: Call) -> dict[str, Any]:
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


HANDLERS: Mapping[str, Handler] = {"GetRole": get_role, "SimulatePrincipalPolicy": simulate_principal_policy}

"""Who every caller is, and the names of roles: a server has no users and no roles of its own."""

import base64
import hashlib

from smlocal.platforms.sagemaker.contract.identity import partition

ROLE = "smlocal"
"""The role that every caller has assumed, whatever key it signs with."""
SESSION = "smlocal"

_ID_LENGTH = 17


def role_arn(name: str, *, account: str, region: str) -> str:
    """The ARN of a role without a path."""
    return f"arn:{partition(region)}:iam::{account}:role/{name}"


def session_arn(*, account: str, region: str) -> str:
    """The ARN of the caller."""
    return f"arn:{partition(region)}:sts::{account}:assumed-role/{ROLE}/{SESSION}"


def role_id(name: str, *, account: str) -> str:
    """An id in the form of the service, always the same for the same role."""
    digest = hashlib.sha256(f"{account}/{name}".encode()).digest()
    return f"AROA{base64.b32encode(digest).decode()[:_ID_LENGTH]}"

"""Credentials as a container is given them: who they are for, and until when they are good."""

import json
from dataclasses import field
from datetime import UTC, datetime

from smlocal.quick_dataclass import dataclass

SHORT_LIVED_SECONDS = 3600.0
"""What is said of keys that never expire: whoever has them comes again in time, as for those of a role."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Issued:
    """One set of keys."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str = field(default="", repr=False)
    expires: float | None = None
    """By the wall clock; None for keys of which nobody knows."""

    def document(self, role_arn: str, now: float) -> bytes:
        """What the service answers."""
        until = now + SHORT_LIVED_SECONDS if self.expires is None else self.expires
        return json.dumps(
            {
                "RoleArn": role_arn,
                "AccessKeyId": self.access_key,
                "SecretAccessKey": self.secret_key,
                "Token": self.token,
                "Expiration": datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
        ).encode()

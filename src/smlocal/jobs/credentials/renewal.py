"""Renews a job's keys well before they expire. A failure is reported once."""

import time
from collections.abc import Callable
from dataclasses import field
from threading import Lock
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.aws_session import Credentials, caller_credentials, missing
from smlocal.errors import ClockWrongError, CredentialsMissingError, RoleNotAssumedError, SmlocalError
from smlocal.terms.clock import CLOCK_REMEDY, is_wrong_clock

AHEAD_SECONDS = 1200.0
"""Clients ask for new keys 15 minutes before the old ones expire."""
_UNKNOWN_END_SECONDS = 300.0
"""When to fetch keys again whose end is not known: the user may have others by then."""
_RETRY_SECONDS = 10.0
_SHORTEST_SECONDS = 0.5


class ExpiredError(Exception):
    """No keys are valid."""


@dataclass(kw_only=True, slots=True)
class RenewedKeys:
    """One job's keys; safe to use from many threads."""

    fetch: Callable[[], Credentials]
    """Gets new keys; raises `SmlocalError`."""
    warn: Callable[[str], None] = lambda _: None
    """Gets the reason why they could not be renewed."""
    clock: Callable[[], float] = time.time
    _keys: Credentials | None = None
    _renew_at: float = 0.0
    _lock: Lock = field(default_factory=Lock)
    _reported: str = ""

    def fetch_first(self) -> None:
        """Get the first keys; raises the error if there are none."""
        self._take(self.fetch())

    def current(self) -> Credentials:
        """The present keys, without waiting if they are valid; raises `ExpiredError`."""
        keys = self._valid()
        if keys is None:
            self.renew_if_due()
            keys = self._valid()
        if keys is None:
            raise ExpiredError(self._reported)
        return keys

    def renew_if_due(self) -> None:
        """Renew the keys if it is time; other threads get the old ones meanwhile."""
        with self._lock:
            if self.clock() >= self._renew_at:
                self._renew()

    def _valid(self) -> Credentials | None:
        keys = self._keys
        return keys if keys is not None and (keys.expires is None or keys.expires > self.clock()) else None

    def _renew(self) -> None:
        try:
            self._take(self.fetch())
            self._reported = ""
        except SmlocalError as error:
            self._renew_at = self.clock() + _RETRY_SECONDS
            reason = error.with_details
            if reason != self._reported:
                self._reported = reason
                self.warn(reason)

    def _take(self, keys: Credentials) -> None:
        self._keys = keys
        now = self.clock()
        if keys.expires is None:
            self._renew_at = now + _UNKNOWN_END_SECONDS
        else:
            left = keys.expires - now
            wait = left - AHEAD_SECONDS if left > 2 * AHEAD_SECONDS else left / 2
            self._renew_at = now + max(_SHORTEST_SECONDS, wait)


# Where the containers' keys come from: the user who runs smlocal, or the job's role.


def user_keys() -> Credentials:
    """The keys of the user who runs smlocal; raises `CredentialsMissingError`."""
    try:
        return caller_credentials()
    except CredentialsMissingError as error:
        raise _for_containers(error.details) from error


def role_keys(role_arn: str, region: str, *, session: str) -> Credentials:
    """Temporary keys of a role, which the user assumes at STS in this session; raises `RoleNotAssumedError`."""
    import botocore.session
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        # No types are published.
        client: Any = botocore.session.Session().create_client("sts", region_name=region)
        given = client.assume_role(RoleArn=role_arn, RoleSessionName=session)["Credentials"]
    except NoCredentialsError as error:
        raise _for_containers(()) from error
    except (BotoCoreError, ClientError, RuntimeError, ValueError, KeyError) as error:
        if is_wrong_clock(str(error)):
            raise ClockWrongError(
                f"the role {role_arn} cannot be assumed because the clock of this machine is wrong",
                details=(str(error),),
                remedy=(CLOCK_REMEDY,),
            ) from error
        raise RoleNotAssumedError(
            f"the role {role_arn} cannot be assumed",
            details=(str(error),),
            remedy=(
                "Allow your own identity in its trust policy: aws sts get-caller-identity shows it.",
                "Or run with your own credentials: --credentials inherit; or without: --credentials none.",
            ),
        ) from error
    return Credentials(
        access_key=given["AccessKeyId"],
        secret_key=given["SecretAccessKey"],
        token=given["SessionToken"],
        expires=given["Expiration"].timestamp(),
    )


def _for_containers(details: tuple[str, ...]) -> CredentialsMissingError:
    return CredentialsMissingError(
        "Local.Credentials needs AWS credentials, and none were found",
        details=details,
        remedy=(*missing().remedy, "Or run without any: --credentials none"),
    )

"""Who asks: found as every AWS tool finds it, and found again when it has expired.

botocore knows all the ways there are and costs 200 ms to import. The two commonest, the environment and plain keys in
the credentials file, are therefore looked at first, in botocore's own order.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from smlocal.errors import CredentialsMissingError
from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.profile import Profile

_REMEDY = (
    "Log in:  aws sso login, aws configure, or set AWS_PROFILE to a profile that can",
    "Or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for temporary ones)",
)
_OTHER_WAYS = frozenset({"role_arn", "web_identity_token_file", "sso_session", "sso_start_url", "sso_account_id"})
"""Settings of a profile that come before plain keys in botocore's order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Credentials:
    """Keys that sign."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str = field(default="", repr=False)
    expires: float | None = field(default=None, compare=False)
    """By the wall clock, where it is known."""


class CredentialSource:
    """Gives the keys of the moment; safe to use from many threads."""

    def __init__(self, find: Callable[[], Callable[[], Credentials]]) -> None:
        """`find` looks everywhere and returns what gives the keys from then on, refreshing them by itself if it can."""
        self._find = find
        self._current = find()
        self._lock = threading.Lock()

    def current(self) -> Credentials:
        """The keys to sign with now."""
        return self._current()

    def renew(self, refused: Credentials) -> bool:
        """Look everywhere again after S3 refused these as expired; True if there are others now."""
        with self._lock:
            if self._current() != refused:
                return True  # another thread was faster
            self._current = self._find()
            return self._current() != refused


def credential_source(environment: Mapping[str, str], profile: Callable[[], Profile]) -> CredentialSource:
    """Find the caller's credentials; raises `CredentialsMissingError` when there are none."""

    def find() -> Callable[[], Credentials]:
        given = _from_environment(environment) or _from_file(environment, profile())
        return (lambda: given) if given else _from_botocore()

    return CredentialSource(find)


def _from_environment(environment: Mapping[str, str]) -> Credentials | None:
    access_key, secret_key = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    if not access_key or not secret_key or environment.get("AWS_CREDENTIAL_EXPIRATION"):
        return None
    token = environment.get("AWS_SESSION_TOKEN") or environment.get("AWS_SECURITY_TOKEN") or ""
    return Credentials(access_key=access_key, secret_key=secret_key, token=token)


def _from_file(environment: Mapping[str, str], profile: Profile) -> Credentials | None:
    if environment.get("AWS_ACCESS_KEY_ID") or environment.get("AWS_WEB_IDENTITY_TOKEN_FILE"):
        return None
    if _OTHER_WAYS & {*profile.config, *profile.secrets}:
        return None
    access_key, secret_key = (profile.secrets.get(key, "") for key in ("aws_access_key_id", "aws_secret_access_key"))
    if not access_key or not secret_key:
        return None
    token = profile.secrets.get("aws_session_token") or profile.secrets.get("aws_security_token") or ""
    return Credentials(access_key=access_key, secret_key=secret_key, token=token)


def _from_botocore() -> Callable[[], Credentials]:
    import botocore.session
    from botocore.exceptions import BotoCoreError

    try:
        # No types are published.
        found: Any = botocore.session.Session().get_credentials()
    except BotoCoreError as error:
        raise missing(str(error)) from error
    if found is None:
        raise missing()

    def current() -> Credentials:
        try:
            frozen = found.get_frozen_credentials()
        except BotoCoreError as error:
            raise missing(str(error)) from error
        if not frozen.access_key or not frozen.secret_key:
            raise missing()
        # Only what can be renewed knows its end, and tells nobody else.
        end = getattr(found, "_expiry_time", None)
        return Credentials(
            access_key=frozen.access_key,
            secret_key=frozen.secret_key,
            token=frozen.token or "",
            expires=end.timestamp() if end is not None else None,
        )

    current()
    return current


def missing(why: str = "") -> CredentialsMissingError:
    """No keys, and what to do about it."""
    return CredentialsMissingError(
        "S3 needs AWS credentials, and none were found",
        details=(why,) if why else (),
        remedy=_REMEDY,
    )

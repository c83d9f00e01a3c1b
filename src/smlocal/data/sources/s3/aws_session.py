"""The user's AWS configuration, as botocore reads it: profile, settings and credentials."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import AwsConfigurationError, CredentialsMissingError

CONNECT_TIMEOUT = 5.0
CONNECTIONS = 32
_ATTEMPTS = 3
_REMEDY = (
    "Log in:  aws sso login, aws configure, or set AWS_PROFILE to a profile that can",
    "Or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for temporary ones)",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """The profile in use, with its settings from both AWS files."""

    name: str
    named: bool = False
    """True if the user chose this profile; the default one need not exist."""
    exists: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def region(self) -> str:
        """The region it sets, or an empty string."""
        return str(self.settings.get("region") or "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Credentials:
    """Keys to sign with."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str = field(default="", repr=False)
    expires: float | None = None
    """Unix time, if known."""


def new_session(profile: str | None = None, *, needed_by: str = "S3") -> Any:
    """A botocore session; `CredentialsMissingError` for a profile that does not exist.

    `profile`: another one than the environment names. `needed_by`: the part that needs credentials, for errors.
    """
    import botocore.session

    from smlocal.data.sources.s3.service_models import shared_loader

    session: Any = botocore.session.Session(profile=profile)  # botocore publishes no types
    with _as_missing(needed_by):
        session.get_scoped_config()
    session.register_component("data_loader", shared_loader(session.get_config_variable("data_path")))
    return session


def client_config(session: Any, *, read_timeout: float) -> Any:
    """How every client of ours waits and tries again; the number and kind of tries are the user's, if configured."""
    from botocore.config import Config

    settings = session.get_scoped_config()
    retries: dict[str, Any] = {}
    if "AWS_RETRY_MODE" not in os.environ and "retry_mode" not in settings:
        retries["mode"] = "standard"
    if "AWS_MAX_ATTEMPTS" not in os.environ and "max_attempts" not in settings:
        retries["total_max_attempts"] = _ATTEMPTS
    return Config(
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=read_timeout,
        retries=retries or None,
        max_pool_connections=CONNECTIONS,
        user_agent_extra="smlocal",
    )


def read_profile() -> Profile:
    """The profile in use, whether it exists or not."""
    import botocore.session

    session: Any = botocore.session.Session()
    name = session.profile or "default"
    try:
        found = session.full_config["profiles"].get(name)
    except _errors():  # an invalid file is reported when credentials are loaded
        found = None
    return Profile(name=name, named=bool(session.profile), exists=found is not None, settings=found or {})


def profile_region() -> str | None:
    """The region of the profile in use; None if the environment has one, which comes first.

    For jobs that use nothing else of AWS: botocore's parser takes 25 ms, a session 200.
    """
    if os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"):
        return None
    path = os.path.expanduser(os.environ.get("AWS_CONFIG_FILE") or "~/.aws/config")
    if not os.path.isfile(path):
        return None
    from botocore.configloader import load_config
    from botocore.exceptions import BotoCoreError

    name = os.environ.get("AWS_DEFAULT_PROFILE") or os.environ.get("AWS_PROFILE") or "default"  # botocore's order
    try:
        return load_config(path)["profiles"].get(name, {}).get("region") or None
    except BotoCoreError:
        return None


def credentials_of(session: Any, *, needed_by: str = "S3") -> Any:
    """Botocore's credentials object, which renews itself if it can; `CredentialsMissingError` if there is none."""
    with _as_missing(needed_by):
        found = session.get_credentials()
    if found is None:
        raise missing(needed_by=needed_by)
    frozen_keys(found, needed_by=needed_by)
    return found


def frozen_keys(found: Any, *, needed_by: str = "S3") -> Any:
    """The current keys; `CredentialsMissingError` if they have expired and cannot be renewed."""
    with _as_missing(needed_by):
        keys = found.get_frozen_credentials()
    if not keys.access_key or not keys.secret_key:
        raise missing(needed_by=needed_by)
    return keys


def caller_credentials() -> Credentials:
    """The user's credentials; `CredentialsMissingError` if there are none."""
    found = credentials_of(new_session())
    keys = frozen_keys(found)
    # Only credentials that can be renewed have an expiry time, and botocore has no public name for it.
    end = getattr(found, "_expiry_time", None)
    return Credentials(
        access_key=keys.access_key,
        secret_key=keys.secret_key,
        token=keys.token or "",
        expires=end.timestamp() if end is not None else None,
    )


def missing(why: str = "", *, needed_by: str = "S3") -> CredentialsMissingError:
    """The error for missing credentials."""
    return CredentialsMissingError(
        f"{needed_by} needs AWS credentials, and none were found",
        details=(why,) if why else (),
        remedy=_REMEDY,
    )


@contextmanager
def _as_missing(needed_by: str) -> Iterator[None]:
    from botocore.exceptions import ConfigNotFound, ConfigParseError, ProfileNotFound

    try:
        yield
    except ProfileNotFound as error:
        name = error.kwargs["profile"]
        raise missing(f"the profile {name} is not in the AWS configuration files", needed_by=needed_by) from error
    except (ConfigParseError, ConfigNotFound) as error:
        raise AwsConfigurationError(
            "the AWS configuration cannot be read", details=(str(error),), remedy=("Correct that file.",)
        ) from error
    except _errors() as error:
        raise missing(str(error), needed_by=needed_by) from error


def _errors() -> tuple[type[Exception], ...]:
    """The errors of botocore if it finds no credentials; RuntimeError if renewed ones have expired too."""
    from botocore.exceptions import BotoCoreError, ClientError

    return BotoCoreError, ClientError, RuntimeError

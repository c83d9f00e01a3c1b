"""Registry logins that the docker command has saved in its config.json or with a credential helper."""

import subprocess
import warnings
from collections.abc import Callable

from docker.auth import INDEX_NAME, INDEX_URL, AuthConfig
from docker.credentials import Store, StoreError
from docker.credentials.errors import process_store_error
from docker.errors import DockerException

from smlocal.engine.docker_config import docker_config
from smlocal.errors import SmlocalError

_HELPER_SECONDS = 60.0
"""A helper may ask for a passphrase."""


class _LimitedStore(Store):  # type: ignore[misc]  # published without types
    """The SDK waits for a credential helper without a limit."""

    def _execute(self, subcmd: str, data_input: bytes) -> bytes:
        if self.exe is None:
            raise StoreError(f"{self.program} is not installed")
        command = [self.exe, subcmd]
        try:
            done = subprocess.run(command, input=data_input, capture_output=True, timeout=_HELPER_SECONDS, check=True)
        except subprocess.CalledProcessError as error:
            raise process_store_error(error, self.program) from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StoreError(f"{self.program}: {error}") from error
        return done.stdout


class _Logins(AuthConfig):  # type: ignore[misc]  # as above
    def _get_store_instance(self, name: str) -> Store:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a missing helper is reported below
            return _LimitedStore(name)


def saved_login(host: str, report: Callable[[str], None]) -> dict[str, str] | None:
    """Return the login for a registry, with the keys that the engine knows; None: pull without one.

    As with the docker command, a login that cannot be read does not stop the pull: the registry says whether it needs
    one. But it is reported.
    """
    try:
        config = docker_config()
        if not config.keys() & {"auths", "credsStore", "credHelpers"}:
            return None
        login = _Logins.load_config(None, config).resolve_authconfig(host)
    except (SmlocalError, DockerException, ValueError, LookupError, TypeError, AttributeError) as error:
        report(f"pulling without a login for {host}, as the saved one cannot be read: {error.__cause__ or error}")
        return None
    if not login:
        return None
    server = INDEX_URL if host == INDEX_NAME else host
    # The SDK writes keys in two ways, and leaves the server of an identity token out.
    return {"serveraddress": server} | {key.lower(): value for key, value in login.items() if value}

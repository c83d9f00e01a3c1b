"""The environment of an unmodified program, so that it finds the endpoint under AWS's own names.

Variables of its environment, a file with the certificates that it trusts, and a key.
"""

import fcntl
import os
import secrets
import string
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape, glob

from botocore.httpsession import get_cert_path

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.web import PROXY_VARIABLES
from smlocal.endpoint.protocol.aws_names import is_above_aws

_KEY = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_NO_PROXY = ("NO_PROXY", "no_proxy")
_OWN_S3 = "AWS_ENDPOINT_URL_S3"
_OTHER_ENDPOINTS = (
    "AWS_ENDPOINT_URL",
    *(
        f"AWS_ENDPOINT_URL_{name}"
        for name in ("SAGEMAKER", "SAGEMAKER_RUNTIME", "CLOUDWATCH", "CLOUDWATCH_LOGS", "STS", "IAM", "BATCH")
    ),
)
"""They would keep the program from finding us."""
_OTHER_CREDENTIALS = (
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgramEnvironment:
    """Variables to set, and those to leave out."""

    variables: Mapping[str, str]
    without: frozenset[str]

    def applied_to(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The whole environment of the program."""
        return {**{name: value for name, value in environment.items() if name not in self.without}, **self.variables}


def program_environment(
    environment: Mapping[str, str], *, proxy: str, bundle: str, region: str | None, key: tuple[str, str]
) -> ProgramEnvironment:
    """`bundle`: the file with the authority's certificate. `region`: for a program that has none.

    The program gets the key of this run: it signs with it, and its signed requests never leave this machine. With an S3
    server of the user's (AWS_ENDPOINT_URL_S3) it keeps the user's keys, which that server knows.
    """
    own_keys = bool(environment.get(_OWN_S3))
    keys = {} if own_keys else dict(zip(_KEY, key, strict=True))
    variables = {**dict.fromkeys(PROXY_VARIABLES, proxy), **keys, "AWS_CA_BUNDLE": bundle, "REQUESTS_CA_BUNDLE": bundle}
    if region is not None:
        variables["AWS_DEFAULT_REGION"] = region
    without = _OTHER_ENDPOINTS if own_keys else (*_OTHER_ENDPOINTS, *_OTHER_CREDENTIALS)
    for name in _NO_PROXY:
        if environment.get(name):
            variables[name] = ",".join(_without_aws(environment[name].split(",")))
    return ProgramEnvironment(variables=variables, without=frozenset(without))


def users_proxy(environment: Mapping[str, str]) -> str | None:
    """The proxy that the user has set for HTTPS."""
    return next((environment[name] for name in PROXY_VARIABLES if environment.get(name)), None)


def users_bundle(environment: Mapping[str, str]) -> str:
    """The file with the certificates that the user's programs trust."""
    for name in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"):
        if environment.get(name) and os.path.isfile(environment[name]):
            return environment[name]

    return str(get_cert_path(True))


def _without_aws(names: Iterable[str]) -> Iterable[str]:
    """An entry for AWS's names, or `*`, would keep the program from finding us."""
    return (name for name in names if not is_above_aws(name))


# The file with the certificates that the program trusts.

_NAME = "certificates-{}.pem"
_FORMER = "certificate-authority.pem"
"""A file of earlier versions: an authority for all names, with its key, that never expired."""


@contextmanager
def bundle(home: str, authority: bytes, others: str) -> Iterator[str]:
    """The path of a file with this authority and the certificates in `others`, there until the end of the block."""
    _remove_abandoned(home)
    with open(others, "rb") as file:
        content = file.read() + b"\n" + authority
    descriptor, path = _locked_file(home)
    try:
        with open(descriptor, "wb", closefd=False) as out:
            out.write(content)
        yield path
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)
        os.close(descriptor)


def _locked_file(home: str) -> tuple[int, str]:
    """A new file. Its lock is a mark that its run is alive."""
    while True:
        path = os.path.join(home, _NAME.format(f"{os.getpid()}-{os.urandom(4).hex()}"))
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)  # another run has taken it for abandoned before it was locked


def _remove_abandoned(home: str) -> None:
    """Remove the files of runs that were killed."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(home, _FORMER))
    for path in glob(os.path.join(escape(home), _NAME.format("*"))):
        with suppress(OSError), open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)


_LETTERS = string.ascii_uppercase + "234567"


def new_key() -> tuple[str, str]:
    """The id of the key and its secret. No program knows it yet."""
    return "AKIA" + "".join(secrets.choice(_LETTERS) for _ in range(16)), secrets.token_urlsafe(30)

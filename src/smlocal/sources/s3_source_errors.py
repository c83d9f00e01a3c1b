"""Errors of S3 for a listing, as errors of the command."""

from collections.abc import Iterator
from contextlib import contextmanager

from smlocal.contract.clock import CLOCK_REMEDY, is_wrong_clock
from smlocal.errors import (
    AwsConfigurationError,
    ClockWrongError,
    CredentialsMissingError,
    S3UnreachableError,
    SmlocalError,
)
from smlocal.sources import source_errors
from smlocal.sources.s3.interface import S3Error
from smlocal.sources.source_errors import Caller, RequestedSource

_CREDENTIALS = {
    "AuthFailure",
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidSecurity",
    "InvalidToken",
    "InvalidTokenId",
    "NotSignedUp",
    "RequestExpired",
    "SignatureDoesNotMatch",
    "TokenRefreshRequired",
    "UnrecognizedClientException",
}
"""S3's codes for credentials that are not valid or have expired."""


def machine_error(asked: RequestedSource, error: S3Error) -> SmlocalError | None:
    """The error if this machine is the cause: invalid credentials, a wrong clock, no connection; else None."""
    details = (*asked.details, str(error))
    if is_wrong_clock(str(error)):
        return ClockWrongError(
            f"{asked.subject}: S3 refuses requests for {asked.uri}: the clock of this machine is wrong",
            details=details,
            remedy=(CLOCK_REMEDY,),
        )
    if error.code in _CREDENTIALS:
        return CredentialsMissingError(
            f"{asked.subject}: S3 rejects these AWS credentials for {asked.uri}",
            details=details,
            remedy=("Renew them, for example: aws sso login, or choose others with AWS_PROFILE.",),
        )
    if error.code == "MissingDependency":
        return AwsConfigurationError(
            f"{asked.subject}: requests for {asked.uri} cannot be signed: the package awscrt is not installed",
            details=details,
            remedy=("Install it:  pip install 'smlocal[crt]'",),
        )
    if error.status == 0:
        return S3UnreachableError(
            f"{asked.subject}: S3 is unreachable for {asked.uri}",
            details=details,
            remedy=(
                "Check the network, the region and AWS_ENDPOINT_URL_S3; or",
                "map the location to a local folder in Local.Sources.",
            ),
        )
    return None


@contextmanager
def as_source_errors(asked: RequestedSource, caller: Caller) -> Iterator[None]:
    """Raise errors of S3 as the service's refusal, or as an error of this machine."""
    try:
        yield
    except S3Error as error:
        raise machine_error(asked, error) or source_errors.empty(
            asked, caller, answer=error.message or error.code
        ) from error

"""What S3 answered to a listing, as the error that ends the command before a job is made."""

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
"""What S3 answers to a caller whom it does not know (any more); access denied is said to one whom it knows."""


def machine_error(asked: RequestedSource, error: S3Error) -> SmlocalError | None:
    """The error for what is wrong on this side: credentials that do not count, or no way to S3 at all."""
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
def refused(asked: RequestedSource, caller: Caller) -> Iterator[None]:
    """Turn what S3 says while it is asked for objects into the refusal of the service, or of this machine."""
    try:
        yield
    except S3Error as error:
        raise machine_error(asked, error) or source_errors.empty(
            asked, caller, answer=error.message or error.code
        ) from error

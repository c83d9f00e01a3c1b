"""Lists the source of a channel in S3, and says errors of S3 as errors of the command."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice

from smlocal.data.sources import source_errors
from smlocal.data.sources.s3.interface import ObjectStore, S3Error, S3Object
from smlocal.data.sources.selection import OutOfOrderError, select, split_prefix
from smlocal.data.sources.source_errors import Caller, RequestedSource
from smlocal.errors import (
    AwsConfigurationError,
    ClockWrongError,
    CredentialsMissingError,
    S3UnreachableError,
    SmlocalError,
)
from smlocal.terms.clock import CLOCK_REMEDY, is_wrong_clock
from smlocal.terms.listing import Listing, bucket_name, split_s3_uri

_FIRST_PAGE = 1_000
"""Keys in one page of a listing; the object itself comes first."""


def list_prefix(asked: RequestedSource, *, mode: str, caller: Caller, store: ObjectStore) -> Listing:
    """List all objects whose key begins with that of the URI."""
    bucket_uri, prefix = split_s3_uri(asked.uri)
    bucket = bucket_name(bucket_uri)
    with as_source_errors(asked, caller):
        listing = select_in_s3(
            lambda: store.list_objects(bucket, prefix), bucket_uri=bucket_uri, prefix=prefix, mode=mode
        )
    if listing is None:
        raise source_errors.empty(asked, caller)
    return listing


def select_in_s3(
    objects: Callable[[], Iterator[S3Object]], *, bucket_uri: str, prefix: str, mode: str
) -> Listing | None:
    """Select from a listing; one that is not in S3's order is requested again, and sorted as a whole."""
    try:
        return select(objects(), bucket_uri=bucket_uri, prefix=prefix, mode=mode)
    except OutOfOrderError:
        found = sorted(objects(), key=lambda each: each.key)
        return select(iter(found), bucket_uri=bucket_uri, prefix=prefix, mode=mode)


def list_object(asked: RequestedSource, *, caller: Caller, store: ObjectStore) -> Listing:
    """List the one object that the URI names."""
    bucket_uri, key = split_s3_uri(asked.uri)
    with as_source_errors(asked, caller):
        found = list(islice(store.list_objects(bucket_name(bucket_uri), key), _FIRST_PAGE))
    exact = next((each for each in found if each.key == key), None)
    if exact is None:
        near = found[0].uri if len(found) == 1 else None
        raise source_errors.empty(asked, caller, near=near)
    base, name = split_prefix(key)
    return Listing(
        root="",
        bucket_uri=bucket_uri,
        prefix=key,
        key_base=base,
        paths=(name,),
        sizes=(exact.size or 0,),
        etags=(exact.etag or "",),
        total_bytes=exact.size or 0,
        whole_tree=True,
    )


# Errors of S3 for a listing, as errors of the command.

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
        from smlocal.base.installed import install_command

        return AwsConfigurationError(
            f"{asked.subject}: requests for {asked.uri} cannot be signed: the package awscrt is not installed",
            details=details,
            remedy=(f"Install it:  {install_command('crt')}",),
        )
    if error.status == 0:
        from smlocal.base.web import proxy_remedy

        return S3UnreachableError(
            f"{asked.subject}: S3 is unreachable for {asked.uri}",
            details=details,
            remedy=(
                *proxy_remedy(os.environ),
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

"""Where the next page of a listing begins, as a token that clients hand back."""

import base64
import binascii

from smlocal.server.objects.s3_error import S3Error


def token_of(last: str) -> str:
    """A token for the page after this key or prefix."""
    return base64.urlsafe_b64encode(last.encode()).decode()


def read_token(token: str | None) -> str:
    """The key or prefix; empty for the first page."""
    try:
        return base64.urlsafe_b64decode(token or "").decode()
    except (binascii.Error, ValueError):
        raise S3Error("InvalidArgument", "The continuation token provided is incorrect") from None

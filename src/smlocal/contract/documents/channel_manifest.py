"""`<channel>-manifest`: the list of its objects that the service's downloader leaves beside a channel."""

from io import BytesIO

from smlocal.contract.listing import Listing

_AT_ONCE = 10_000


def manifest(listing: Listing) -> bytes:
    """Line 1 is the bare key prefix, each further line the full URI of an object, in listing order."""
    written = BytesIO()
    written.write(_encoded(f"{listing.prefix}\n"))
    start = listing.bucket_uri if listing.keys else f"{listing.bucket_uri}{listing.key_base}"
    names = listing.keys or listing.paths
    for first in range(0, len(names), _AT_ONCE):
        written.write(_encoded("".join([f"{start}{name}\n" for name in names[first : first + _AT_ONCE]])))
    return written.getvalue()  # its own buffer, not a copy: there may be a million names


def _encoded(text: str) -> bytes:
    # Names are bytes on disk; those that are not UTF-8 go out as they came in.
    return text.encode(errors="surrogateescape")

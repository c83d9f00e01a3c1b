"""`<channel>-manifest`: the list of objects that the service puts next to a File mode channel."""

from io import BytesIO

from smlocal.contract.listing import Listing

_AT_ONCE = 10_000


def manifest(listing: Listing) -> bytes:
    """Line 1 is the key prefix, each further line the URI of an object, in listing order."""
    written = BytesIO()
    written.write(_encoded(f"{listing.prefix}\n"))
    start = listing.bucket_uri if listing.keys else f"{listing.bucket_uri}{listing.key_base}"
    names = listing.keys or listing.paths
    for first in range(0, len(names), _AT_ONCE):
        written.write(_encoded("".join([f"{start}{name}\n" for name in names[first : first + _AT_ONCE]])))
    return written.getvalue()  # no copy of the buffer: there may be a million names


def _encoded(text: str) -> bytes:
    # File names are bytes and need not be UTF-8.
    return text.encode(errors="surrogateescape")

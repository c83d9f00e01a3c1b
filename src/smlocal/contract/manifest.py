"""`<channel>-manifest`: the list of its objects that the service's downloader leaves beside a channel."""

from smlocal.contract.listing import Listing


def manifest(listing: Listing) -> bytes:
    """Line 1 is the bare key prefix, each further line the full URI of an object, in listing order."""
    start = f"\n{listing.bucket_uri}{listing.key_base}"
    objects = start + start.join(listing.paths) if listing.paths else ""
    # Names are bytes on disk; those that are not UTF-8 go out as they came in.
    return f"{listing.prefix}{objects}\n".encode(errors="surrogateescape")

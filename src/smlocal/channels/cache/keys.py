"""Names in the cache: of an object's content, and of a whole tree of objects."""

from smlocal.contract.listing import Listing

_LENGTH = 40
_AT_ONCE = 10_000
_FORMAT = "1"
"""Another one makes everything that is kept unknown."""


def blob_name(endpoint: str, bucket: str, key: str, etag: str, size: int) -> str:
    """Name of the content that S3 said it would send; the ETag changes with the content."""
    return _digest("\0".join((_FORMAT, endpoint, bucket, key, etag, str(size))))


def tree_name(endpoint: str, listing: Listing) -> str:
    """Name of a folder that holds the objects of a listing in their places, and nothing else.

    One digest for all, not one an object: it is made each time a job starts.
    """
    from hashlib import sha256  # most jobs have local data

    head = (_FORMAT, endpoint, listing.bucket_uri, listing.key_base, str(len(listing.paths)), *listing.directories)
    digest = sha256(_encoded("\0".join(head)))
    columns = (listing.paths, listing.keys, listing.etags, listing.sizes)
    for first in range(0, len(listing.paths), _AT_ONCE):
        for column in columns:
            digest.update(_encoded("\0".join(map(str, column[first : first + _AT_ONCE]))))
            digest.update(b"\0\0")
    return digest.hexdigest()[:_LENGTH]


def _digest(text: str) -> str:
    from hashlib import sha256

    return sha256(_encoded(text)).hexdigest()[:_LENGTH]


def _encoded(text: str) -> bytes:
    # Names of objects may be any text; that a file can bear them is looked at elsewhere.
    return text.encode(errors="surrogatepass")

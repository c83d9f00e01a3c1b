"""Small documents, such as manifests, read as a whole."""

from smlocal.sources.s3.answers import damaged
from smlocal.sources.s3.interface import ObjectStore, S3Error, S3Object

_FIRST = 1 << 20


def read_whole(store: ObjectStore, obj: S3Object, most: int) -> bytes:
    """All bytes of an object; one with more than `most` is refused (`EntityTooLarge`) before they are fetched."""
    # Whoever is exactly as large as allowed must be told from whoever is larger.
    found, data = store.read_first(obj, min(most + 1, _FIRST))
    size = len(data) if found.size is None else found.size
    if max(size, len(data)) > most:
        words = f"The object has {size} bytes; at most {most} are read"
        raise S3Error("EntityTooLarge", words, status=400, uri=obj.uri, operation="GetObject")
    if size <= len(data):
        return data
    whole = bytearray(size)
    whole[: len(data)] = data
    checksum = store.checksum(found)
    with memoryview(whole) as view:
        count = len(data) + store.read_into(found, len(data), view[len(data) :])
        checksum.update(view[:count])
    if not checksum.matches:
        raise damaged(obj.uri)
    return bytes(whole[:count])

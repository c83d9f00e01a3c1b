"""What an object is expected to add up to: S3 is asked, where no answer has said so yet."""

from collections.abc import Callable, Mapping

from smlocal.sources.s3.checksum import Checksum
from smlocal.sources.s3.claims import claim_of
from smlocal.sources.s3.interface import S3Error

CHECKSUMS = {"x-amz-checksum-mode": "ENABLED"}
"""With these S3 says what it has for a whole object."""

_REFUSALS = range(400, 500)
_NOT_IMPLEMENTED = 501


def checksum_of(
    size: int,
    said: Mapping[str, str] | None,
    head: Callable[[], Mapping[str, str]],
    head_of_part: Callable[[int], Mapping[str, str]],
    *,
    exactly: bool,
) -> Checksum:
    """What adds up an object in order; `said` are the headers of an answer that held all of it, if there was one."""
    claim = claim_of(said, etag=True) if said is not None else None
    if claim is None and (said is None or "content-range" in said):
        # With a range S3 says nothing, even if that is all. An MD5 takes longer than many bytes take to come.
        claim = claim_of(head(), etag=False)
    if claim is None or not claim.parts:
        return Checksum(claim)
    lengths = part_lengths(head_of_part, size, claim.parts, exactly=exactly)
    return Checksum(claim if lengths else None, lengths or ())


def part_lengths(
    head: Callable[[int], Mapping[str, str]], size: int, count: int, *, exactly: bool
) -> tuple[int, ...] | None:
    """How long the parts of an object are; None where the server does not say.

    `head` asks about one part. Nearly always all are as long as the first, save the last; only `exactly` makes sure.
    """
    if count == 1:
        return (size,)
    try:
        first = _length(head(1), count)
        if first and not exactly and (count - 1) * first < size <= count * first:
            return *(first for _ in range(count - 1)), size - (count - 1) * first
        lengths = (first, *(_length(head(number), count) for number in range(2, count + 1))) if first else ()
    except S3Error as error:
        if error.status in _REFUSALS or error.status == _NOT_IMPLEMENTED:
            return None  # what has become of the object is said where it is read
        raise
    return lengths if sum(lengths) == size else None


def _length(headers: Mapping[str, str], count: int) -> int:
    """Of a part; 0 when the answer is about something else."""
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() and headers.get("x-amz-mp-parts-count") == str(count) else 0

"""Adds up an object's bytes as S3 did."""

import sys
from collections.abc import Iterable
from functools import partial
from typing import Any

from smlocal.sources.s3.claims import Claim
from smlocal.sources.s3.crc import LENGTHS, Crc


class Checksum:
    """Given all bytes in order; without a claim it always matches."""

    def __init__(self, claim: Claim | None, lengths: Iterable[int] = ()) -> None:
        """Begin; `lengths` are those of the parts, where the claim is about such."""
        self._claim = claim
        if claim is None:
            return
        self._begin = partial(_begin, claim.kind)
        self._whole = self._sum = self._begin()
        self._left = sys.maxsize  # until the end of the part
        if claim.parts:
            self._sum = self._begin()
            self._lengths = iter(lengths)
            self._left = next(self._lengths)
            self._end_parts()

    @property
    def is_known(self) -> bool:
        """Whether there is anything to check."""
        return self._claim is not None

    @property
    def matches(self) -> bool:
        """Whether the bytes are those that S3 was given."""
        return self._claim is None or self._whole.digest() == self._claim.wanted

    def update(self, data: memoryview) -> None:
        """Add the next bytes."""
        if self._claim is None:
            return
        while data:
            piece = data[: self._left]
            self._sum.update(piece)
            self._left -= len(piece)
            data = data[len(piece) :]
            self._end_parts()

    def _end_parts(self) -> None:
        while not self._left:
            self._whole.update(memoryview(self._sum.digest()))
            self._sum = self._begin()
            self._left = next(self._lengths, sys.maxsize)


def _begin(kind: str) -> Any:
    if kind in LENGTHS:
        return Crc(kind)
    import hashlib

    # No protection from attackers is meant, and none is lost: S3's own sums are kept.
    return hashlib.new(kind, usedforsecurity=False)

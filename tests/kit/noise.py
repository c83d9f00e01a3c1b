"""Content that cannot be compressed. Many tests use the same, which takes longer to make up than to store in S3."""

import random
from functools import lru_cache


@lru_cache(maxsize=8)
def noise(size: int) -> bytes:
    """Random bytes, for one size always the same."""
    return random.Random(size).randbytes(size)

"""Statistics of a tensor, in constant memory."""

import math
from collections.abc import Sequence

from smlocal.quick_dataclass import dataclass
from smlocal.tensors.tensor import Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """Of all values; `lowest`, `highest`, `mean` and `deviation` of the finite ones, None if there are none."""

    lowest: float | None
    highest: float | None
    mean: float | None
    deviation: float | None
    """The standard deviation, as NumPy computes it by default."""
    zeros: int
    nans: int
    infinities: int


def statistics_of(tensor: Tensor) -> Statistics | None:
    """None for text, complex numbers and a tensor without values."""
    if not tensor.type.format or not tensor.size:
        return None
    zeros = nans = infinities = count = 0
    sums: list[float] = []
    lows: list[float] = []
    highs: list[float] = []
    for piece in tensor.numbers():
        finite = _finite(piece)
        missing = len(piece) - len(finite)
        of_these = sum(map(math.isnan, piece)) if missing else 0
        nans += of_these
        infinities += missing - of_these
        zeros += finite.count(0)
        if finite:
            count += len(finite)
            sums.append(_sum(finite))
            lows.append(+min(finite))  # of bool, a number
            highs.append(+max(finite))
    mean = _sum(sums) / count if count else None
    return Statistics(
        lowest=min(lows, default=None),
        highest=max(highs, default=None),
        mean=mean,
        deviation=None if mean is None else _deviation(tensor, mean, count),
        zeros=zeros,
        nans=nans,
        infinities=infinities,
    )


def _sum(numbers: Sequence[float]) -> float:
    try:
        return math.fsum(numbers)
    except OverflowError:
        return float(sum(numbers))  # infinite, as in NumPy


def _finite(piece: tuple[float, ...]) -> tuple[float, ...]:
    return piece if math.isfinite(sum(piece)) else tuple(filter(math.isfinite, piece))


def _deviation(tensor: Tensor, mean: float, count: int) -> float:
    pieces = map(_finite, tensor.numbers())
    # The distance of two points is computed in C, and without overflow.
    return math.hypot(*(math.dist(piece, (mean,) * len(piece)) for piece in pieces)) / math.sqrt(count)

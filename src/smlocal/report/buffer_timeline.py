"""Balanced buffers: bytes of each server, and the buffers of one iteration as rows. The template draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

_LEAST_WIDTH = 4
"""So that the bar of a very short time is visible."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """What one server adds up in an iteration, in bytes."""

    number: int
    balanced: int
    whole_variables: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Buffer:
    """One row: the backward pass that fills the buffer, then its reduction. Places and widths of the bars."""

    bytes: int
    filling_left: float
    filling_width: float
    reducing_left: float
    reducing_width: float
    seconds: float
    """Of the reduction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BufferTimeline:
    """The last iteration of rank 0."""

    WIDTH: ClassVar = 1000

    servers: tuple[Server, ...]
    buffers: tuple[Buffer, ...]
    seconds: float
    overlapping: int
    """Buffers whose reduction began before the next one was filled."""


def buffer_timeline(block: Mapping[str, Any] | None) -> BufferTimeline | None:
    """What a job's block `DataParallel` shows; None without balanced buffers."""
    balanced = (block or {}).get("Balanced")
    if balanced is None:
        return None
    counted = balanced["IterationBytes"]
    variables = counted["WholeVariables"]
    last = balanced["LastIteration"] or {"Buffers": (), "BegunBeforeTheNextWasReady": 0}
    seconds = max((each["End"] for each in last["Buffers"]), default=0.0)
    return BufferTimeline(
        servers=tuple(
            Server(number=n, balanced=size, whole_variables=variables[n] if n < len(variables) else None)
            for n, size in enumerate(counted["Balanced"])
        ),
        buffers=tuple(_rows(last["Buffers"], seconds)),
        seconds=seconds,
        overlapping=last["BegunBeforeTheNextWasReady"],
    )


def _rows(buffers: Sequence[Mapping[str, Any]], seconds: float) -> list[Buffer]:
    scale = BufferTimeline.WIDTH / seconds if seconds > 0 else 0.0
    rows, filled = [], 0.0
    for each in buffers:
        filling, reducing = (
            _bar(filled * scale, each["Ready"] * scale),
            _bar(each["Begin"] * scale, each["End"] * scale),
        )
        rows.append(
            Buffer(
                bytes=each["Bytes"],
                filling_left=filling[0],
                filling_width=filling[1],
                reducing_left=reducing[0],
                reducing_width=reducing[1],
                seconds=each["End"] - each["Begin"],
            )
        )
        filled = max(filled, each["Ready"])
    return rows


def _bar(begin: float, end: float) -> tuple[float, float]:
    """Place and width of a bar, in the drawing even if the times make no sense: a container has told them."""
    left = max(0.0, min(BufferTimeline.WIDTH - _LEAST_WIDTH, begin))
    return left, max(_LEAST_WIDTH, min(BufferTimeline.WIDTH, end) - left)

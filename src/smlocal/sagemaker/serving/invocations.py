"""Counts, times and the last errors of an endpoint's invocations, in a small file of its folder.

The file stays small, however long the endpoint runs: spans of time are merged when there are too many, and times are
counted in classes.
"""

import json
import math
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any, Final

from smlocal.base.files import replace_file
from smlocal.base.quick_dataclass import dataclass

_FILE: Final = "invocations.json"
_MOST_SPANS: Final = 240
"""The most columns of a chart."""
_MOST_VARIANTS: Final = 100
_MOST_ERRORS: Final = 20
_MOST_TEXT: Final = 500
"""Characters kept of an error."""
_SHORTEST: Final = 1e-4
"""Seconds. Shorter times are in the first class."""
_GROWTH: Final = math.log(1.1)
"""The step between classes: times are exact to five percent."""


@dataclass(kw_only=True, slots=True)
class Tally:
    """Requests of a span of time, or of a variant."""

    requests: int = 0
    errors: int = 0
    times: Counter[int] = field(default_factory=Counter)
    """Requests in each class of times."""

    def add(self, other: "Tally") -> None:
        """Add the requests of `other`."""
        self.requests += other.requests
        self.errors += other.errors
        self.times += other.times

    def quantile(self, share: float) -> float | None:
        """A quantile of the times in seconds; None without times."""
        wanted, seen = share * self.times.total(), 0
        for number in sorted(self.times):
            seen += self.times[number]
            if seen >= wanted:
                return float(_SHORTEST * math.exp(_GROWTH * number))
        return None

    def document(self) -> list[Any]:
        """As it is stored."""
        return [self.requests, self.errors, self.times]


@dataclass(kw_only=True, slots=True)
class InvocationCounts:
    """The counts of one endpoint."""

    directory: str = ""
    folder: os.stat_result | None = None
    """The directory's identity: a directory in its place belongs to another job."""
    began: float = 0.0
    """The beginning of the first span."""
    width: float = 1.0
    """Seconds of a span."""
    spans: dict[int, Tally] = field(default_factory=dict)
    """By number; spans without requests are left out."""
    variants: dict[str, Tally] = field(default_factory=dict)
    """Only requests that reached a container."""
    errors: list[dict[str, Any]] = field(default_factory=list)
    """The last errors. A repeated error is one entry with a count."""
    changed: bool = False
    """True if not written yet."""

    @property
    def total(self) -> Tally:
        """All requests."""
        return summed(self.spans.values())

    def answered(self, variant: str, seconds: float | None, error: tuple[int, Mapping[str, Any]] | None) -> None:
        """Count a request answered now; `error`: status and document of an error."""
        now = time.time()
        self.changed = True
        if not self.spans:
            self.began = now
        number = max(0, int((now - self.began) / self.width))
        while number >= _MOST_SPANS:
            self._merge()
            number //= 2
        counted = [self.spans.setdefault(number, Tally())]
        if variant and (variant in self.variants or len(self.variants) < _MOST_VARIANTS):
            counted.append(self.variants.setdefault(variant, Tally()))
        for tally in counted:
            tally.requests += 1
            tally.errors += error is not None
            if seconds is not None:
                tally.times[max(0, round(math.log(max(seconds, _SHORTEST) / _SHORTEST) / _GROWTH))] += 1
        if error is not None:
            status, document = error
            text = document.get("OriginalMessage") or document.get("Message") or document.get("message") or ""
            kept = {
                "Variant": variant,
                "Status": document.get("OriginalStatusCode") or status,
                "Text": str(text)[:_MOST_TEXT],
            }
            last = self.errors.pop() if self.errors else {}
            if any(last.get(name) != value for name, value in kept.items()):
                self.errors += [last] if last else []
                last = {"Count": 0}
            again = {**kept, "At": round(now, 3), "Count": last["Count"] + 1}
            self.errors = [*self.errors, again][-_MOST_ERRORS:]

    def _merge(self) -> None:
        """Merge each pair of spans."""
        before, self.spans, self.width = self.spans, {}, self.width * 2
        for number, tally in before.items():
            self.spans.setdefault(number // 2, Tally()).add(tally)

    def write(self) -> None:
        """Write the file if it changed. A full disk is ignored: it must not fail requests."""
        if not self.changed:
            return
        self.changed = False
        document = {
            "Version": 1,
            "Began": self.began,
            "Width": self.width,
            "Spans": {number: tally.document() for number, tally in self.spans.items()},
            "Variants": {name: tally.document() for name, tally in self.variants.items()},
            "Errors": self.errors,
        }
        with suppress(OSError):
            if self.folder is None or not os.path.samestat(self.folder, os.stat(self.directory)):
                return
            replace_file(os.path.join(self.directory, _FILE), json.dumps(document).encode(), mode=0o600)


def read_invocations(directory: str) -> InvocationCounts:
    """The stored counts of an endpoint; empty if there is no readable file."""
    folder = None
    try:
        folder = os.stat(directory)
        with open(os.path.join(directory, _FILE), "rb") as file:
            found = json.loads(file.read())
        began, width = float(found["Began"]), float(found["Width"])
        if not (math.isfinite(began) and 0 < width < math.inf):
            return InvocationCounts(directory=directory, folder=folder)
        return InvocationCounts(
            directory=directory,
            folder=folder,
            began=began,
            width=width,
            spans={int(number): _tally(each) for number, each in found["Spans"].items()},
            variants={name: _tally(each) for name, each in found["Variants"].items()},
            errors=[_error(each) for each in found["Errors"]],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return InvocationCounts(directory=directory, folder=folder)


def summed(tallies: Iterable[Tally]) -> Tally:
    """The sum."""
    total = Tally()
    for each in tallies:
        total.add(each)
    return total


def _error(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "Variant": str(found["Variant"]),
        "Status": int(found["Status"]),
        "Text": str(found["Text"]),
        "At": float(found["At"]),
        "Count": int(found.get("Count", 1)),
    }


def _tally(found: list[Any]) -> Tally:
    requests, errors, counts = found
    times = Counter({int(key): int(count) for key, count in counts.items()})
    return Tally(requests=int(requests), errors=int(errors), times=times)

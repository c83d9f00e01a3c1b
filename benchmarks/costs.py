"""The table at the top of RESULTS.md: what a no-op job costs, by commit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from results import RESULTS

_COLUMNS = (
    "commit",
    "of",
    "no-op job",
    "÷ `docker run --rm`",
    "processor time",
    '÷ `python -c "import click"`',
    "measured",
)
_HEAD = f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one commit costs, and in the same run what it is compared with; all in seconds."""

    commit: str
    of: str
    """Its date and time, by which the rows are sorted."""
    seconds: float
    docker: float
    processor: float
    click: float

    def row(self) -> str:
        cells = (
            self.commit,
            self.of,
            f"{self.seconds * 1000:.0f} ms",
            f"{self.seconds / self.docker:.2f}",
            f"{self.processor * 1000:.0f} ms",
            f"{self.processor / self.click:.1f}",
            f"{datetime.now().astimezone():%Y-%m-%d}",
        )
        return f"| {' | '.join(cells)} |\n"


def keep_costs(costs: Sequence[Cost]) -> None:
    """Add them to the table, in place of what was measured of the same commits."""
    text = RESULTS.read_text(encoding="utf-8")
    assert _HEAD in text, f"{RESULTS} has no table of costs"
    before, after = text.split(_HEAD)
    table = list(takewhile(lambda line: line.startswith("| "), after.splitlines(keepends=True)))
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in table}
    rows.update((cost.commit, cost.row()) for cost in costs)
    ordered = sorted(rows.values(), key=lambda line: line.split(" | ")[1])
    rest = after.removeprefix("".join(table))
    RESULTS.write_text(f"{before}{_HEAD}{''.join(ordered)}{rest}", encoding="utf-8")

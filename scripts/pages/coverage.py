"""The tables of coverage, from the code."""

from collections.abc import Iterator

from smlocal.ai_platform.coverage import table
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.sagemaker.requests import REQUESTS
from smlocal.terms.member_table import MemberTable
from smlocal.terms.support import Support


def sagemaker_coverage() -> str:
    """The end of docs/coverage.md: a table for each request."""
    return "\n".join(line for name, each in REQUESTS.items() for line in _request(name, each.members))


def _request(request: str, table: MemberTable) -> Iterator[str]:
    rows = table.rows
    tally = [f"{sum(row.support is support for row in rows.values())} are {support}" for support in Support]
    yield from (f"## {request}", "", f"Of {len(rows)} rows, {', '.join(tally)}.", "")
    yield from (f"| Member of {request} | Support | |", "|---|---|---|")
    for name, row in rows.items():
        yield f"| `{name}` | {row.support} | {row.note} |"
        for word, value in row.values.items():
            yield f"| &nbsp;&nbsp;= `{word}` | {value.support} | {value.note} |"
    yield ""


def ai_platform_coverage() -> str:
    """The end of docs/ai-platform-coverage.md: both tables."""
    return "\n".join("\n".join(_section(kind)) for kind in ReplicaJobKind)


def _section(kind: ReplicaJobKind) -> Iterator[str]:
    rows = table(kind)
    tally = [f"{sum(row.support is support for row in rows.values())} are {support}" for support in Support]
    yield from (f"## {kind.value}", "", f"Of {len(rows)} rows, {', '.join(tally)}.", "")
    yield from (f"| Member of {kind.value} | Support | |", "|---|---|---|")
    for name, row in rows.items():
        yield f"| `{name}` | {row.support} | {row.note} |"
        for pattern, reason in row.refused.items():
            yield f"| &nbsp;&nbsp;= `{pattern}` | refused | {reason} |"
    yield ""

"""The pages of the coverage tables."""

from collections.abc import Iterator

from smlocal.ai_platform.coverage.lookup import table
from smlocal.ai_platform.model.members import JobKind
from smlocal.jobs.contract.support import Support
from smlocal.sagemaker.contract.coverage.members import TABLE

_SAGEMAKER = """\
# Every member of a request: emulated, recorded or refused

<!-- Made by scripts/generate-coverage from the coverage table; do not edit. -->

*Emulated*: it has the same effect as on the service. *Recorded*: it is kept and echoed by `smlocal describe`, and has
no effect here. *Refused*: a request with it is not run (exit code 2, id `field-refused`). `smlocal coverage` prints
this table, and `smlocal coverage --json` prints it for programs. {counts}

| Member of CreateTrainingJob | Support | |
|---|---|---|
"""


def sagemaker_coverage() -> str:
    """The table for docs/coverage.md."""
    tally = [(support, sum(row.support is support for row in TABLE.values())) for support in Support]
    counts = f"Of {len(TABLE)} members, {', '.join(f'{number} are {support}' for support, number in tally)}."
    lines = []
    for name, row in TABLE.items():
        lines.append(f"| `{name}` | {row.support} | {row.note} |")
        lines += [f"| &nbsp;&nbsp;= `{word}` | {value.support} | {value.note} |" for word, value in row.values.items()]
    return _SAGEMAKER.format(counts=counts) + "\n".join(lines) + "\n"


_AI_PLATFORM = """\
# Every member of a job of AI Platform: emulated, recorded or refused

<!-- Made by scripts/generate-coverage from the coverage tables; do not edit. -->

*Emulated*: it has the same effect as on the service. *Recorded*: it is kept and echoed by `smlocal describe`, and has
no effect here. *Refused*: a job with it is not run. A row may stand for all members of a structure.
[ai-platform.md](ai-platform.md) describes the rest.
"""


def ai_platform_coverage() -> str:
    """Both tables for docs/ai-platform-coverage.md."""
    return "\n".join([_AI_PLATFORM, *("\n".join(_section(kind)) for kind in JobKind)])


def _section(kind: JobKind) -> Iterator[str]:
    rows = table(kind)
    tally = [f"{sum(row.support is support for row in rows.values())} are {support}" for support in Support]
    yield from (f"## {kind.value}", "", f"Of {len(rows)} rows, {', '.join(tally)}.", "")
    yield from (f"| Member of {kind.value} | Support | |", "|---|---|---|")
    for name, row in rows.items():
        yield f"| `{name}` | {row.support} | {row.note} |"
        for pattern, reason in row.refused.items():
            yield f"| &nbsp;&nbsp;= `{pattern}` | refused | {reason} |"
    yield ""

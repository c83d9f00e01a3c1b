"""The whole page: one file that needs nothing from anywhere, no script among it."""

import json
from collections.abc import Iterator, Sequence

from smlocal.readable import readable_bytes
from smlocal.report.contents import Contents
from smlocal.report.curve import Curve, figure_of
from smlocal.report.facts import Facts
from smlocal.report.log_tail import LogTail
from smlocal.report.markup import escaped, items, section
from smlocal.report.outcome import in_short, outcome
from smlocal.report.style import STYLE
from smlocal.report.timeline import timeline
from smlocal.report.usage_curves import HostCurves
from smlocal.report.words import counted, moment

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

_NOTES = 20


def page(facts: Facts) -> str:
    """HTML, with everything in it."""
    answer = facts.answer
    body = "\n".join(part for part in _sections(facts) if part)
    title = f"{answer['TrainingJobName']}: {in_short(facts)}"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escaped(title)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
<main>
<header>
{outcome(facts)}
</header>
{body}
</main>
<footer>Made by smlocal on {moment(facts.made)}. All times are UTC.</footer>
</body>
</html>
"""


def _sections(facts: Facts) -> Iterator[str]:
    answer = facts.answer
    local = answer["Local"]
    transitions = answer["SecondaryStatusTransitions"]
    yield section("Timeline", timeline(transitions, local.get("Seconds", {}), facts.made))
    yield section("Metrics", *_metrics(facts))
    yield section("Usage", items(facts.advice), *(_usage(host, alone=len(facts.usage) == 1) for host in facts.usage))
    yield section(
        "Artifacts",
        *(_artifact(artifact) for artifact in facts.artifacts),
        _some((local.get("Artifacts") or {}).get("Notes", ())),
    )
    yield section("Log" if len(facts.logs) == 1 else "Logs", *(_log(tail) for tail in facts.logs))
    yield section("Not as on the service", _notes(facts))
    yield section("Request", f"<pre>{escaped(json.dumps(facts.request, indent=2, ensure_ascii=False))}</pre>")


def _some(notes: Sequence[str]) -> str:
    """Hosts that wrote the same thousand files make a thousand notes."""
    more = len(notes) - _NOTES
    return items([*notes[:_NOTES], f"And {more:,} more: smlocal describe has them."] if more > 0 else notes)


def _metrics(facts: Facts) -> Iterator[str]:
    metrics = facts.metrics
    yield _curves(metrics.curves)
    if metrics.without:
        yield f"<p>No line held a value of {escaped(', '.join(metrics.without))}.</p>"
    yield items(metrics.notes)


def _curves(curves: tuple[Curve, ...], kind: str = "curves") -> str:
    return f'<div class="{kind}">{"".join(map(figure_of, curves))}</div>' if curves else ""


def _usage(host: HostCurves, *, alone: bool) -> str:
    head = "" if alone else f"<h3>{escaped(host.name)}</h3>"
    if host.curves:
        return head + _curves(host.curves, "curves two")
    figures = host.figures
    said = f"Memory peak {figures['MemoryPeakMiB']:g} MiB, CPU peak {figures['CpuPeak']:.1f} cores."
    return f"{head}<p>{escaped(said)}</p>"


def _artifact(artifact: Contents) -> str:
    parent, _, name = artifact.path.rpartition("/")
    head = f'<h3>{escaped(name)} <span class="size">{readable_bytes(artifact.size)}</span></h3>'
    where = f'<p class="where">{escaped(parent)}</p>'
    rows = "".join(
        f'<tr><td class="number">{"" if member.size is None else readable_bytes(member.size)}</td>'
        f"<td>{escaped(member.path)}</td></tr>"
        for member in artifact.members
    )
    table = f'<table class="members"><tbody>{rows}</tbody></table>' if rows else ""
    return head + where + table + "".join(f"<p>{escaped(words)}</p>" for words in _about(artifact))


def _about(artifact: Contents) -> Iterator[str]:
    more = artifact.count - len(artifact.members)
    if artifact.trouble:
        yield artifact.trouble
    elif not artifact.complete:
        yield (
            f"And {more:,} more that were counted; the rest was not looked at."
            if more
            else "The rest was not looked at."
        )
    elif more:
        yield f"And {more:,} more."


def _log(tail: LogTail) -> str:
    lines = tail.lines
    said = "It is empty." if not lines else "all of it" if tail.whole else f"the last {counted(len(lines), 'line')}"
    head = f'<h3>{escaped(tail.host)} <span class="size">{said}</span></h3><p class="where">{escaped(tail.path)}</p>'
    return head + (f'<pre class="log">{escaped(chr(10).join(lines))}</pre>' if lines else "")


def _notes(facts: Facts) -> str:
    ordered = sorted(facts.notes, key=lambda note: not note.get("Warning"))
    points = "".join(
        f"<li>{'<b>Warning:</b> ' if note.get('Warning') else ''}{escaped(note['Text'])}</li>" for note in ordered
    )
    return f'<ul class="notes">{points}</ul>' if points else ""

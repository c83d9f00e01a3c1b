"""How a job ended on the service and here, on a screen."""

from collections.abc import Iterator, Sequence

from smlocal.cli.terminal.layout import row, shortened
from smlocal.cli.terminal.printable import printable, without_colours
from smlocal.service.job_end import JobEnd, comparable_line
from smlocal.service.reproduction import Reproduction

_HEAD = 15
_COLUMN = 32
"""Of the left end, if both fit in one line."""
_LINES = 10
_LONGEST_LINE = 400
_NONE = "none"


def reproduction_lines(found: Reproduction, *, width: int | None) -> Iterator[str]:
    """The whole screen, with the sentence at its end."""
    there, here = found.there, found.here
    yield from _pair("", "there", "here", width)
    yield from _pair("Job", there.name, here.name, width)
    yield from _pair("Status", _status(there), _status(here), width)
    yield from _pair("FailureReason", there.reason or _NONE, here.reason or _NONE, width)
    if there.message or here.message:
        yield from _pair("ExitMessage", there.message or _NONE, here.message or _NONE, width)
    yield from _pair("Exit code", _code(there), _code(here), width)
    yield from _pair("Phases", _phases(there), _phases(here), width)
    for name in dict.fromkeys((*there.metrics, *here.metrics)):
        yield from _pair(f"Metric {name}", _value(there, name), _value(here, name), width)
    yield from _logs(found, width)
    if found.explanations:
        yield "What may explain it"
    for each in found.explanations:
        helps = each.option or (f"leave out {each.without}" if each.without else "")
        yield from row("  ", printable(f"{each.text}{f': {helps}' if helps else ''}"), width=width)
    yield ""
    yield from row("", printable(found.verdict.sentence), width=width)


def _pair(head: str, there: str, here: str, width: int | None) -> Iterator[str]:
    """In one line if there is room, else below each other."""
    there, here = printable(there), printable(here)
    head = f"{shortened(printable(head), 2 * _HEAD):<{_HEAD}} "
    line = f"{head}{there:<{_COLUMN}} {here}"
    if "\n" not in there + here and len(there) <= _COLUMN and (width is None or len(line) <= width):
        yield line.rstrip()
        return
    yield from row(f"{head}there ", there, width=width)
    yield from row(f"{'':<{_HEAD}} here  ", "the same" if there == here else here, width=width)


def _status(end: JobEnd) -> str:
    return end.status if end.secondary in {end.status, ""} else f"{end.status} ({end.secondary})"


def _code(end: JobEnd) -> str:
    return "not known" if end.exit_code is None else str(end.exit_code)


def _phases(end: JobEnd) -> str:
    timed = (f"{each.status} {each.seconds:.1f} s" for each in end.phases if each.seconds and each.status != end.status)
    return " · ".join(timed) or "not known"


def _value(end: JobEnd, name: str) -> str:
    return f"{end.metrics[name]:.6g}" if name in end.metrics else _NONE


def _logs(found: Reproduction, width: int | None) -> Iterator[str]:
    """One block if both end alike."""
    names, host = (found.there.name, found.here.name), found.here.host
    there, here = ([*end.log.of(host)][-_LINES:] for end in (found.there, found.here))
    alike = [comparable_line(line, names=names) for line in there] == [
        comparable_line(line, names=names) for line in here
    ]
    if there and alike:
        yield from _block("Last lines of the log, the same there and here", there, width)
        return
    for place, end, lines in (("there", found.there, there), ("here", found.here, here)):
        if lines:
            yield from _block(f"Last lines of the log {place}", lines, width)
        else:
            yield from row(f"{f'Log {place}':<{_HEAD}} ", printable(end.log.missing or "empty"), width=width)


def _block(head: str, lines: Sequence[str], width: int | None) -> Iterator[str]:
    yield head
    for line in lines:
        text = printable(without_colours(line))
        yield f"  {shortened(text, _LONGEST_LINE if width is None else max(20, width - 2))}"

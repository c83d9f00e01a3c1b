"""FailureReason and log lines without what differs between two runs of the same job: times, addresses, names, ids."""

import re
from collections.abc import Callable, Iterable

from smlocal.platforms.sagemaker.contract.outcome.failure_reason import REASON_CHARACTERS

_LEAST_PORT = 32768
"""Ports above are given out by the system."""
_LOST_AT_CUT = 40
"""Characters at the cut of a long reason that are not compared: half of what a rule replaces may be cut away."""
_LONGEST_LINE = 4000
"""Characters of a log line that are looked at."""
_STAMP = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)?(?:Z\b| ?[+-]\d{2}:?\d{2}\b)?"
_CLOCK = r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?"
_DAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DATE = rf"(?:{_MONTH} +\d{{1,2}}|\d{{1,2}} {_MONTH})"


def _port(found: "re.Match[str]") -> str:
    return f"{found[1]}<port>" if int(found[2]) >= _LEAST_PORT else found[0]


_RULES: "tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]" = (
    (r"\x1b\[[0-9;:]*m", ""),
    (r"\barn:aws[a-z-]*:[^\s\"'`,;)\]}]+", "<arn>"),
    (r"(?i)\b((?:request|host) ?id)(\"?'?\s*[:=]\s*\"?'?)[\w/+=-]+", r"\1\2<id>"),
    (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
    (r"\b0x[0-9a-fA-F]{9,16}\b", "<address>"),
    (r"\bat 0x[0-9a-fA-F]+\b", "at <address>"),
    (r"\b[0-9a-f]{32,}\b", "<id>"),
    (r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{12}\b", "<id>"),
    (r"\bi-[0-9a-f]{8,17}\b", "<id>"),
    (r"\b\d{8}-\d{6}(?:-\d{3})?\b", "<time>"),
    (rf"\b{_STAMP}", "<time>"),
    (rf"\b\d{{4}}/\d{{2}}/\d{{2}}(?: {_CLOCK})?", "<time>"),
    (rf"\b{_DAY}?{_DATE}(?:,? \d{{4}})?,? +{_CLOCK}(?: GMT| UTC)?(?: \d{{4}}\b)?", "<time>"),
    (_CLOCK, "<time>"),
    (r"(?<![\w.])1[5-9]\d{8}(?:\.\d+|\d{3})?(?![\w.])", "<time>"),
    (r"\b\d+\.\d+(?= ?(?:s|secs?|seconds?|ms|milliseconds?|us|µs|mins?|minutes?|hours?|it/s|s/it)\b)", "<number>"),
    (r"(?<!\d)\d{12}(?!\d)", "<account>"),
    (r"\bip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[\w-]+)*", "<address>"),
    (r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.]*\d)", "<address>"),
    (r"(?i)(?<![\w:])(?:(?:[0-9a-f]{1,4}:){5,7}[0-9a-f]{1,4}|fe80::[0-9a-f:]+)(?![\w:])", "<address>"),
    (r"(?i)(\bport[ =:]+|\blocalhost:)(\d{4,5})\b", _port),
    (r"(/tmp/(?:tmp|pymp-))[\w-]{6,}", r"\1<random>"),
    (r"(?i)\b([pt]id\b[ =:]+)\d+", r"\1<number>"),
)  # fmt: skip
_RUNTIME = re.compile(r"(API error \(400\): ).*?((?:exec: |stat )\"?.*)", re.DOTALL)
"""What a container runtime says before the cause differs from version to version."""


def normalised(text: str, *, names: Iterable[str] = ()) -> str:
    """The text with a mark in place of each such part. `names` are those of the jobs."""
    for name in sorted({*names} - {""}, key=len, reverse=True):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", "<job>", text)
    for pattern, mark in _RULES:
        text = re.sub(pattern, mark, text)
    return text


def normalised_line(line: str, *, names: Iterable[str] = ()) -> str:
    """A line of a log, without the blanks at its end."""
    return normalised(line[:_LONGEST_LINE], names=names).rstrip()


def comparable_line(line: str, *, names: Iterable[str] = ()) -> str:
    """A line of a log, without the times before it either: some forms of a log have one there, others have none.

    Of a line that was written over, as by a progress bar, the last text is taken.
    """
    text = normalised_line(line.rstrip().rpartition("\r")[2], names=names)
    return re.sub(r"^(?:<time>(?:[ \t]+|$))+", "", text)


def normalised_reason(reason: str, *, names: Iterable[str] = ()) -> str:
    """A FailureReason. Of a container runtime's words the cause is kept."""
    text = normalised(reason, names=names).rstrip()
    return _RUNTIME.sub(r"\1<runtime> \2", text).removesuffix(": unknown")


def same_reason(one: str, other: str, *, names: Iterable[str] = ()) -> bool:
    """Whether two reasons say the same. Of one that was cut at 1024 characters, the end is not compared."""
    names = tuple(names)
    texts = [normalised_reason(each, names=names) for each in (one, other)]
    if texts[0] == texts[1]:
        return True
    if not any(len(each) >= REASON_CHARACTERS for each in (one, other)):
        return False
    common = min(map(len, texts)) - _LOST_AT_CUT
    return common > REASON_CHARACTERS // 2 and texts[0][:common] == texts[1][:common]


def exit_code_in(reason: str) -> int | None:
    """The exit code at the end of a reason: `, exit code: 1`, or `Exit Code: 1` in older ones."""
    found = re.search(r"(?i)\bexit code: (\d{1,3})$", reason.rstrip())
    return None if found is None else int(found[1])


def says_nothing(reason: str) -> bool:
    """Whether a reason is only an exit code: the container has written no failure file."""
    return re.fullmatch(r"(?i)AlgorithmError:\s*,?\s*exit code: \d{1,3}", reason.strip()) is not None

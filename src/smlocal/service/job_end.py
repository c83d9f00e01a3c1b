"""How a job ended, on the service or here, and whether two runs of one job ended alike.

They are compared without what differs between two runs: times, addresses, names, ids.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.kind import Kind
from smlocal.jobs.logs.log_readers import read_log_tail
from smlocal.sagemaker.contract.outcome.reasons import REASON_CHARACTERS
from smlocal.sagemaker.kinds import TRAINING
from smlocal.service.job_kind import kind_of, transitions

ENDED = ("Completed", "Failed", "Stopped")
LINES = 20
"""The last lines of each log."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """One element of the status history."""

    status: str
    seconds: float | None
    """None if it has no end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogEnd:
    """The last lines of a job's log."""

    lines: Mapping[str, Sequence[str]]
    """By host. A log whose hosts are not known, such as a text file, is of the host ""."""
    missing: str | None = None
    """Why no log is there, as a sentence."""
    last: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By host: the lines of which any may be the last one, where their order is not known."""
    unsure: str | None = None
    """Why the last line here need not be the last one that was written."""

    def of(self, host: str) -> Sequence[str]:
        """The lines of a host, or of the first one if it has none."""
        return self.lines.get(host) or next(iter(self.lines.values()), ())


NO_LOG = LogEnd(lines={}, missing="no log was asked for")


@dataclass(frozen=True, kw_only=True, slots=True)
class JobEnd:
    """How a job ended."""

    name: str
    status: str
    secondary: str
    reason: str | None
    """FailureReason."""
    exit_code: int | None
    """The exit code of the host that decided; None if it is not known or no container ran."""
    host: str
    """The host whose log says most: the one that failed first, else the first one."""
    phases: Sequence[Phase]
    metrics: Mapping[str, float]
    """The final values."""
    log: LogEnd
    kind: Kind = TRAINING
    message: str | None = None
    """ExitMessage of a processing job."""

    @property
    def ended(self) -> bool:
        """Whether the job has ended at all."""
        return self.status in ENDED


def end_of(answer: Mapping[str, Any], log: LogEnd = NO_LOG) -> JobEnd:
    """The end that a describe answer tells: the service's, or one of ours, whose `Local` block knows more."""
    local, kind = answer.get("Local") or {}, kind_of(answer)
    status, reason = str(answer.get(kind.status_member, "")), _reason(answer.get("FailureReason")) or None
    return JobEnd(
        name=str(answer.get(kind.name_member, "")),
        kind=kind,
        message=answer.get("ExitMessage") or None,
        status=status,
        secondary=str(answer.get("SecondaryStatus", status)),
        reason=reason,
        exit_code=_exit_code(status, reason, local),
        host=local.get("FailedHost") or "algo-1",
        phases=[_phase(each) for each in transitions(answer)],
        metrics={each["MetricName"]: float(each["Value"]) for each in answer.get("FinalMetricDataList") or ()},
        log=log,
    )


_TOLD_ON = re.compile(r"\s*Received status from SageMaker:\s*")
"""Before a reason that another service has passed on."""


def _reason(given: Any) -> Any:
    return _TOLD_ON.sub("", given, count=1) if isinstance(given, str) and _TOLD_ON.match(given) else given


def log_of_answer(answer: Mapping[str, Any]) -> LogEnd:
    """The last lines of a job of this machine, from the files that its answer names."""
    lines = {}
    for host in (answer.get("Local") or {}).get("Hosts") or ():
        tail = read_log_tail(host["Name"], host["Log"]) if host.get("Log") else None
        if tail is not None:
            lines[tail.host] = tail.lines[-LINES:]
    if lines:
        return LogEnd(lines=lines)
    return LogEnd(lines={}, missing="no container has written a log")


def seconds_since_epoch(when: object) -> float | None:
    """A time of an answer: a number, an object of boto3, or the text that it was saved as."""
    if isinstance(when, bool):
        return None
    if isinstance(when, int | float):
        return float(when)
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            return None
    return when.timestamp() if isinstance(when, datetime) else None


def _phase(transition: Mapping[str, Any]) -> Phase:
    started, ended = (seconds_since_epoch(transition.get(name)) for name in ("StartTime", "EndTime"))
    return Phase(
        status=str(transition.get("Status", "")),
        seconds=None if started is None or ended is None else max(0.0, ended - started),
    )


def _exit_code(status: str, reason: str | None, local: Mapping[str, Any]) -> int | None:
    codes: dict[str, int | None] = {host["Name"]: host["ExitCode"] for host in local.get("Hosts") or ()}
    if local.get("FailedHost") in codes:
        return codes[local["FailedHost"]]
    if codes:
        return next((code for code in codes.values() if code), next(iter(codes.values())))
    if reason is not None:
        return exit_code_in(reason)
    return 0 if status == "Completed" else None


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
"""The words of a container runtime before the cause differ from version to version."""


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

    If a line was written over, as by a progress bar, its last text is taken.
    """
    text = normalised_line(line.rstrip().rpartition("\r")[2], names=names)
    return re.sub(r"^(?:<time>(?:[ \t]+|$))+", "", text)


def normalised_reason(reason: str, *, names: Iterable[str] = ()) -> str:
    """A FailureReason. Only the cause of a container runtime's message is kept."""
    text = normalised(reason, names=names).rstrip()
    return _RUNTIME.sub(r"\1<runtime> \2", text).removesuffix(": unknown")


def same_reason(one: str, other: str, *, names: Iterable[str] = ()) -> bool:
    """Whether two reasons say the same. If it was cut at 1024 characters, the end is not compared."""
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


_RELATIVE = 1e-6
"""The service's metrics have the precision of 32 bits."""
_WORDS = {True: "Reproduced", False: "Not reproduced", None: "No verdict"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ReproductionVerdict:
    """The conclusion from the two ends."""

    reproduced: bool | None
    """None if that cannot be said."""
    sentence: str


def verdict_of(there: JobEnd, here: JobEnd, *, sampled: bool = False) -> ReproductionVerdict:
    """Compare status and reason. Metrics, phases and logs differ between any two runs: they do not decide.

    One case is an exception: a reason without text fits any failure, so the last line of the logs decides.
    """
    reproduced, sentence = _of_the_service(there, here) or _judged(there, here)
    on_sample = " The run here had only a sample of the data." if sampled else ""
    return ReproductionVerdict(reproduced=reproduced, sentence=f"{_WORDS[reproduced]}: {sentence}{on_sample}")


def same_value(one: float, other: float) -> bool:
    """Whether two values of a metric are equal, apart from how they are stored."""
    return math.isclose(one, other, rel_tol=_RELATIVE) or (math.isnan(one) and math.isnan(other))


def last_lines_agree(there: JobEnd, here: JobEnd) -> bool | None:
    """Whether the logs end with the same line; None if one of them is not known."""
    names = (there.name, here.name)
    ends = [_last(each, here.host, names) for each in (there, here)]
    return bool(ends[0] & ends[1]) if all(ends) else None


def _last(end: JobEnd, host: str, names: Sequence[str]) -> set[str]:
    """The last line that is not blank, or all that may be it."""
    together = end.log.last.get(host) or (() if host in end.log.lines else next(iter(end.log.last.values()), ()))
    texts = [text for line in together or end.log.of(host) if (text := comparable_line(line, names=names))]
    return {*(texts if together else texts[-1:])}


_OF_THE_SERVICE = re.compile("InternalServerError|CapacityError")


def _of_the_service(there: JobEnd, here: JobEnd) -> tuple[None, str] | None:
    own = _OF_THE_SERVICE.match(there.reason or "")
    if own is None or there.status != "Failed":
        return None
    return None, (
        f"there the job Failed with {own[0]}, which is a failure of the service itself. "
        f"A run here cannot reproduce that; here the job is {_told(here)}."
    )


def _judged(there: JobEnd, here: JobEnd) -> tuple[bool | None, str]:
    if _status(there) != _status(here):
        return False, f"there the job is {_told(there)}, here it is {_told(here)}."
    if there.status != "Failed":
        return True, f"the job is {_status(there)} there and here."
    reasons = there.reason or "", here.reason or ""
    if not same_reason(*reasons, names=(there.name, here.name)):
        return False, "the job Failed there and here, with different reasons."
    if not says_nothing(reasons[0]):
        return True, f"the job Failed there and here with the same reason{_code(here)}."
    if there.message and here.message:
        same = same_reason(there.message, here.message, names=(there.name, here.name))
        return (
            same,
            f"the job Failed there and here{_code(here)}, with {'the same' if same else 'another'} ExitMessage.",
        )
    return _judged_by_logs(there, here)


def _judged_by_logs(there: JobEnd, here: JobEnd) -> tuple[bool | None, str]:
    agree = last_lines_agree(there, here)
    if agree is None:
        return True, (
            f"the job Failed there and here{_code(here)}. The reason has no text and a log is missing, "
            "so another cause with this exit code looks the same."
        )
    if agree:
        return True, f"the job Failed there and here{_code(here)}, and the logs end with the same line."
    unsure = _unsure(there, here)
    if unsure is not None:
        return (
            None,
            f"the job Failed there and here{_code(here)}, and the reason has no text. The logs cannot tell: {unsure}.",
        )
    return False, f"the job Failed there and here{_code(here)}, the reason has no text, and the logs end differently."


def _unsure(there: JobEnd, here: JobEnd) -> str | None:
    """Why a last line that is another one says nothing."""
    hosts = there.log.lines
    if here.host not in hosts and "" not in hosts:
        return f"that of the job there is the one of {', '.join(hosts)}, and here {here.host} failed first"
    if here.host not in hosts and len(here.log.lines) > 1:
        return "that of the job there does not say which host wrote a line"
    return there.log.unsure


def _status(end: JobEnd) -> str:
    return end.status if end.secondary in {end.status, ""} else f"{end.status} ({end.secondary})"


def _told(end: JobEnd) -> str:
    return _status(end) if end.reason is None else f"{_status(end)} ({(end.reason.splitlines() or [''])[0][:200]})"


def _code(end: JobEnd) -> str:
    return "" if end.exit_code is None else f" (exit code {end.exit_code})"

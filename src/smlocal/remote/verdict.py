"""Whether a run here ended as the job of the service did."""

import math
from collections.abc import Sequence

from smlocal.quick_dataclass import dataclass
from smlocal.remote.job_end import JobEnd
from smlocal.remote.normalised_reason import comparable_line, same_reason, says_nothing

_RELATIVE = 1e-6
"""The service's metrics have the precision of 32 bits."""
_WORDS = {True: "Reproduced", False: "Not reproduced", None: "No verdict"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What is concluded from the two ends."""

    reproduced: bool | None
    """None if that cannot be said."""
    sentence: str


def judge(there: JobEnd, here: JobEnd, *, sampled: bool = False) -> Verdict:
    """Compare status and reason. Metrics, phases and logs differ between any two runs: they do not decide.

    One case is an exception: a reason without text fits any failure, so the last line of the logs decides.
    """
    reproduced, sentence = _judged(there, here)
    on_sample = " The run here had only a sample of the data." if sampled else ""
    return Verdict(reproduced=reproduced, sentence=f"{_WORDS[reproduced]}: {sentence}{on_sample}")


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

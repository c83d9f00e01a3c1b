"""Lines about what happened to a job and what was decided."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.platforms.ai_platform.lifecycle.entries import Decision, Happened
from smlocal.platforms.ai_platform.lifecycle.error_classes import MOST_REPLICA_RESTARTS
from smlocal.platforms.ai_platform.lifecycle.events import CancelCause

_HAPPENED: Final = {
    Happened.LOST: "container gone",
    Happened.START_REFUSED: "cannot be started",
    Happened.MAINTENANCE: "maintenance of its machine",
    Happened.STOCK_OUT: "no machines in the region",
    Happened.INTERNAL_ERROR: "internal error",
    Happened.CANCEL: "cancelled",
}
_LIMITS: Final[Mapping[str, str]] = {
    CancelCause.RAN_TOO_LONG: "limit of the running time reached",
    CancelCause.WAITED_TOO_LONG: "limit of the waiting time reached",
}
_DECISIONS: Final = {
    Decision.NOTHING: "",
    Decision.RESTART_REPLICA: "restarted",
    Decision.MOVE_REPLICA: "continues on another machine",
    Decision.RETRY_JOB: "the job is tried again",
    Decision.RESTART_JOB: "the job starts again",
    Decision.SUCCEED: "the job has succeeded",
    Decision.FAIL: "the job fails",
    Decision.CANCEL: "the job is cancelled",
}
_SHOWN_AT_THE_END: Final = {Decision.SUCCEED, Decision.FAIL, Decision.CANCEL}
_ENDS_ATTEMPT: Final = {Decision.SUCCEED, Decision.FAIL, Decision.RETRY_JOB}
_ENDS_OF_REPLICAS: Final = {Happened.EXITED, Happened.LOST, Happened.START_REFUSED}


def entry_text(entry: Mapping[str, Any]) -> str:
    """`workerpool1-0: exit 137 (replica failure), restarted (1 of 5)`, `workerpool1-1: exit 137 after SIGKILL`."""
    happened = Happened(entry["Happened"])
    if happened is Happened.ATTEMPT:
        return f"attempt {entry['Attempt']}"
    text = what_happened(entry)
    if happened in _ENDS_OF_REPLICAS and "Error" in entry and not entry.get("OomKilled"):
        text += f" ({entry['Error'].replace('-', ' ')})"
    if "Signal" in entry:
        text += f" after {entry['Signal']}"
    follows = what_follows(entry)
    replica = f"{entry['Replica']}: " if "Replica" in entry else ""
    return f"{replica}{text}{f', {follows}' if follows else ''}"


def what_happened(entry: Mapping[str, Any]) -> str:
    """`exit 137`, `out of memory, exit 137`."""
    happened = Happened(entry["Happened"])
    if happened is Happened.EXITED:
        return f"{'out of memory, ' if entry.get('OomKilled') else ''}exit {entry['ExitCode']}"
    text = _LIMITS.get(entry.get("Cause", ""), _HAPPENED[happened])
    return f"{text} ({entry['Why']})" if "Why" in entry else text


def what_follows(entry: Mapping[str, Any]) -> str:
    """`restarted (1 of 5)`; empty if nothing does."""
    decision = Decision(entry["Decision"])
    if decision is Decision.RESTART_REPLICA:
        return f"restarted ({entry.get('Restarts', 0) + 1} of {MOST_REPLICA_RESTARTS})"
    return "" if entry.get("Cause") == CancelCause.REQUEST else _DECISIONS[decision]


def what_follows_now(entry: Mapping[str, Any], *, others_running: bool, grace: float) -> str:
    """The same while it happens. The end of the job says how it has ended, but others may have to be stopped first."""
    decision = Decision(entry["Decision"])
    follows = "" if decision in _SHOWN_AT_THE_END else what_follows(entry)
    if not others_running or decision not in _ENDS_ATTEMPT or Happened(entry["Happened"]) not in _ENDS_OF_REPLICAS:
        return follows
    stopped = f"the other replicas are stopped (up to {grace:g} s)"
    return f"{stopped}, {follows}" if follows else stopped

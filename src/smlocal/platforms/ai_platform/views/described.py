"""The rows of `smlocal describe`."""

from collections.abc import Iterator
from datetime import datetime

from smlocal.job.view import JobView
from smlocal.readable import local_time

_TIMES = (("createTime", "Created"), ("startTime", "Running"), ("endTime", "Ended"))


def described_rows(view: JobView, *, supervised: bool) -> Iterator[tuple[str, str]]:
    """The answer, where output is, and everything that happened to the replicas."""
    answer, local = view.answer, view.local
    yield "Job", view.name
    yield "State", view.state
    yield from _error(view)
    if "name" in answer:
        yield "Resource", answer["name"]
    for name, head in _TIMES:
        if name in answer:
            yield head, local_time(datetime.fromisoformat(answer[name]).timestamp())
    if not view.status.terminal:
        yield "Supervisor", f"process {local['SupervisorPid']}" if supervised else "not running; a new one is starting"
    if local.get("Attempts", 1) > 1:
        yield "Attempts", str(local["Attempts"])
    for each in view.outputs:
        yield "Output", f"{each.folder}\nfor {each.location}"
    if local.get("ContainersKept"):
        yield "Containers", f"kept, with their folders\nsmlocal rm {view.name} removes them"
    if view.history:
        yield "History", ""
        yield from ((f"  {local_time(at).partition(' ')[2]}", text) for at, text in view.history)


def _error(view: JobView) -> Iterator[tuple[str, str]]:
    answer = view.answer
    shown = answer.get("errorMessage") or (answer.get("error") or {}).get("message")
    if shown:
        yield "Error", shown
        if "error" in answer:
            yield "Code", str(answer["error"]["code"])
    elif view.reason:
        yield "Error", "not there yet: the service sets it about a minute after the end (Local.ErrorDelaySeconds)"

"""The views of a job: when it starts, in `describe`, of its history, and of its plan."""

import os.path
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from smlocal.ai_platform.answer import FINAL, kind_of, state_word, state_word_of, word_of
from smlocal.ai_platform.lifecycle.actions import Decision, Happened
from smlocal.ai_platform.lifecycle.events import CancelCause
from smlocal.ai_platform.lifecycle.messages import CANCELLED
from smlocal.ai_platform.lifecycle.states import MOST_REPLICA_RESTARTS, JobState
from smlocal.ai_platform.locations import output_locations
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.ai_platform.run.stored_lifecycle import LIFECYCLE
from smlocal.ai_platform.shape import job_kind
from smlocal.base.readable import local_time, readable_bytes, short_path
from smlocal.jobs.documents import PLAN, REQUEST
from smlocal.jobs.planning.aspects.accelerators.show import device_rows
from smlocal.jobs.planning.aspects.network.show import network_text
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.jobs.planning.plan_rows import environment_rows, note_rows, request_text
from smlocal.jobs.store.records import StoredJob, Transition
from smlocal.jobs.view import Bar, JobView, OutputFolder, Span, Stage, StartView
from smlocal.terms.masking import masked_words
from smlocal.terms.statuses import JobPhase, StopCause

_MEMBERS = {
    ReplicaJobKind.TRAINING_JOB: ("jobId", "state", "errorMessage"),
    ReplicaJobKind.CUSTOM_JOB: ("name", "displayName", "state", "error"),
}


def view_of(stored: StoredJob, answer: Mapping[str, Any]) -> JobView:
    """From the answer with its `Local` block. The reason is known here before the service would say it."""
    record, kind = stored.record, kind_of(stored.record)
    lifecycle = stored.documents.get(LIFECYCLE) or {}
    error, entries = lifecycle.get("Error") or {}, lifecycle.get("Entries", ())
    reason = record.failure_reason or error.get("message", "") if record.status.terminal else ""
    return JobView(
        name=record.name,
        status=record.status,
        state=state_word(record, kind),
        why="",
        reason="" if reason == CANCELLED else reason,  # the state says it
        created=record.created,
        began=record.started or record.created,
        seconds=record.modified - record.created,
        stages=tuple(_stages(stored.transitions, kind)),
        members={**{each: answer.get(each) for each in _MEMBERS[kind]}, "Reason": reason or None},
        answer=answer,
        shell=False,
        details=tuple(_details(answer, stored.documents.get(PLAN) or {})),
        bars=tuple(bars(entries, record.modified if record.status.terminal else None)),
        history=tuple((entry["At"], entry_text(entry)) for entry in entries),
        outputs=tuple(_outputs(kind, stored.documents[REQUEST], stored.documents.get(PLAN) or {})),
    )


def _stages(transitions: Sequence[Transition], kind: ReplicaJobKind) -> Iterator[Stage]:
    """The states that the job was in, each once until the next."""
    for word, found in groupby(transitions, lambda each: state_word_of(each.status, kind)):
        first, *others = found
        last = others[-1] if others else first
        yield Stage(name=word, message="", began=first.started, ended=last.ended, final=first.status in FINAL)


def _details(answer: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    hosts = Counter((host["Name"].rpartition("-")[0], host["MachineType"]) for host in plan.get("Hosts", ()))
    if hosts:
        yield "Replicas", ", ".join(f"{group}: {count} × {machine}" for (group, machine), count in hosts.items())
    if "name" in answer:
        yield "Resource", answer["name"]


def _outputs(kind: ReplicaJobKind, request: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[OutputFolder]:
    mounts = [mount for host in plan.get("Hosts", ())[:1] for mount in host["Mounts"]]
    for location in output_locations(kind, request):
        for mount in reversed(mounts):  # a folder comes after the one that it is in
            inside = f"{location.rstrip('/')}/".removeprefix(f"{mount['Uri']}/")
            if not inside.startswith("gs://"):
                yield OutputFolder(
                    name="output", folder=os.path.join(mount["Source"], inside).rstrip("/"), location=location
                )
                break


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


# Lines about the events of a job and the decisions about them.

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
    Decision.RETRY_JOB: "the job is retried",
    Decision.RESTART_JOB: "the job restarts",
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


# Attempts and containers of a job as bars.

_ENDS = {Happened.EXITED, Happened.LOST, Happened.START_REFUSED}
_GO_ON = {Decision.RESTART_REPLICA, Decision.MOVE_REPLICA}


def bars(entries: Sequence[Mapping[str, Any]], ended: float | None) -> Iterator[Bar]:
    """The attempts if there are several, then the containers of each replica that has ended at least once.

    `ended`: when the job has ended.
    """
    begun = [entry["At"] for entry in entries if entry["Happened"] == Happened.ATTEMPT]
    if len(begun) > 1:
        ends = [*begun[1:], ended]
        attempts = [Span(began=at, ended=ends[n], text=f"attempt {n + 1}") for n, at in enumerate(begun)]
        yield Bar(name="attempts", spans=tuple(attempts))
    containers = [entry for entry in entries if Happened(entry["Happened"]) in _ENDS and "Replica" in entry]
    for name in sorted({entry["Replica"] for entry in containers}):
        own = [entry for entry in containers if entry["Replica"] == name]
        yield Bar(name=name, spans=tuple(_spans(own, begun, ended)))


def _spans(containers: Sequence[Mapping[str, Any]], attempts: Sequence[float], ended: float | None) -> Iterator[Span]:
    restarted: float | None = None
    for entry in containers:
        began = attempts[entry["Attempt"] - 1] if restarted is None else restarted
        good = entry.get("ExitCode") == 0 or entry["Decision"] == Decision.NOTHING  # it ended with the job
        texts = filter(None, (what_happened(entry), what_follows(entry)))
        yield Span(began=began, ended=entry["At"], text=", ".join(texts), good=good)
        restarted = entry["At"] if Decision(entry["Decision"]) in _GO_ON else None
    if restarted is not None:
        yield Span(began=restarted, ended=ended, text="restarted")


_STATES: Final = {
    JobPhase.STARTING: JobState.PREPARING,
    JobPhase.TRAINING: JobState.RUNNING,
    JobPhase.STOPPING: JobState.CANCELLING,
}
_PLAN_LIMITS: Final = {ReplicaJobKind.TRAINING_JOB: "maxRunningTime", ReplicaJobKind.CUSTOM_JOB: "timeout"}


def start_of(plan: JobPlan) -> StartView:
    """`workerpool0: 1 × n1-standard-4 · workerpool1: 2 × n1-standard-4`."""
    kind = job_kind(plan.request)
    groups = Counter((host.host.group or "", host.host.instance_type) for host in plan.hosts)
    sizes = [f"{group}: {count} × {machine}" for (group, machine), count in groups.items()]
    return StartView(
        about=" · ".join((plan.image.name, *sizes)),
        members={
            "Name": plan.name,
            "Resource": plan.identity.arn,
            "Replicas": [
                {
                    "Name": host.host.name,
                    "MachineType": host.host.instance_type,
                    "Image": plan.image.name if host.program is None else host.program.name,
                }
                for host in plan.hosts
            ],
        },
        phases={
            **{phase: word_of(state, kind) for phase, state in _STATES.items()},
            JobPhase.DOWNLOADING: "Containers",
        },
        causes={
            StopCause.REQUEST: "SIGTERM sent",
            StopCause.MAX_RUNTIME: f"{_PLAN_LIMITS[kind]} reached, SIGTERM sent",
            StopCause.MAX_WAIT: "maxWaitTime reached, SIGTERM sent",
        },
    )


def plan_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """The plan of a run, and how it differs from the service."""
    yield "Job", plan.name
    yield "", plan.identity.arn
    yield from note_rows(plan)
    for index, host in enumerate(plan.hosts):
        yield "" if index else "Replicas", _replica(plan, host)
    yield "Network", network_text(plan)
    yield from device_rows(plan)
    yield from _limits(plan)
    yield "Request", request_text(plan)
    for index, tree in enumerate(plan.trees):
        yield "" if index else "Buckets", f"{tree.target} is {short_path(tree.listing.root)}, for {tree.uri}"
    yield from environment_rows(plan)
    stop = plan.stop
    yield "Stops", f"after {stop.max_runtime} s; SIGTERM, {stop.grace} s, SIGKILL"


def _replica(plan: JobPlan, host: HostPlan) -> str:
    """`workerpool0-0 on n1-standard-4: IMAGE   runs: sh -c …`."""
    image, words = plan.image.name, ["ENTRYPOINT"]
    if host.program is not None:
        image = host.program.name
        words = [*masked_words(host.program.entrypoint or ("ENTRYPOINT",)), *masked_words(host.program.command or ())]
    accelerators = f" with {host.host.gpus} accelerators" if host.host.gpus else ""
    return f"{host.host.name} on {host.host.instance_type}{accelerators}: {image}   runs: {' '.join(words)}"


def _limits(plan: JobPlan) -> Iterator[tuple[str, str]]:
    shown = {}
    for host in plan.hosts:
        memory = f"memory {readable_bytes(host.limits.memory)}" if host.limits.memory else ""
        cpus = f"{host.limits.cpus:g} processors" if host.limits.cpus else ""
        shown[host.host.instance_type] = ", ".join(filter(None, (memory, cpus)))
    yield from (("Limits", f"{machine}: {text}") for machine, text in shown.items() if text)

"""What is shown of a job."""

import os.path
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from smlocal.job.documents import PLAN, REQUEST
from smlocal.job.view import JobView, OutputFolder, Stage
from smlocal.platforms.ai_platform.answer import FINAL, kind_of, state_word, state_word_of
from smlocal.platforms.ai_platform.lifecycle.messages import CANCELLED
from smlocal.platforms.ai_platform.locations import output_locations
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.run.stored_lifecycle import LIFECYCLE
from smlocal.platforms.ai_platform.views.bars import bars
from smlocal.platforms.ai_platform.views.history import entry_text
from smlocal.store.records import StoredJob, Transition

_MEMBERS = {
    JobKind.TRAINING_JOB: ("jobId", "state", "errorMessage"),
    JobKind.CUSTOM_JOB: ("name", "displayName", "state", "error"),
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


def _stages(transitions: Sequence[Transition], kind: JobKind) -> Iterator[Stage]:
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


def _outputs(kind: JobKind, request: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[OutputFolder]:
    mounts = [mount for host in plan.get("Hosts", ())[:1] for mount in host["Mounts"]]
    for location in output_locations(kind, request):
        for mount in reversed(mounts):  # a folder comes after the one that it is in
            inside = f"{location.rstrip('/')}/".removeprefix(f"{mount['Uri']}/")
            if not inside.startswith("gs://"):
                yield OutputFolder(
                    name="output", folder=os.path.join(mount["Source"], inside).rstrip("/"), location=location
                )
                break

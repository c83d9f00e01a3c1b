"""A record of the service and the answer of smlocal, side by side."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from smlocal.sagemaker.contract.outcome.describe import MESSAGES, JobFacts, TransitionFacts, describe
from smlocal.terms.statuses import JobPhase, JobStatus

_TIMES: Final = re.compile(r"(?:Time|Timestamp)$")
_SECONDS: Final = ("TrainingTimeInSeconds", "BillableTimeInSeconds")
_NOT_COMPARED: Final = {".AlgorithmSpecification.TrainingImage", ".TrainingJobName", ".TrainingJobArn"}
"""The stand-in has others."""
_ONE_MESSAGE_SINCE: Final = "2024-04"
"""Since then the last message of Downloading is that of the image; before, that of the data."""


def shape_differences(record: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """Members of a described record that the answer lacks, or has otherwise."""
    facts = dict(record["facts"])
    history = facts.pop("SecondaryStatusTransitions")
    if record.get("edited"):
        facts.pop("ModelArtifacts", None)  # its authors have written it
    lines = [(each["Status"], each["StatusMessage"]) for each in history]
    return [*_walk(facts, answer, ""), *word_differences(record["date"], lines, answer), *_arithmetic(record)]


def _walk(said: Any, ours: Any, path: str) -> Iterator[str]:
    if isinstance(said, dict):
        inner = [
            (f"{path}.{key}", value, ours.get(key) if isinstance(ours, dict) else None) for key, value in said.items()
        ]
    elif isinstance(said, list):
        there = ours if isinstance(ours, list) else []
        inner = [(f"{path}[{n}]", value, there[n] if n < len(there) else None) for n, value in enumerate(said)]
    else:
        if path not in _NOT_COMPARED and not _agree(path, said, ours):
            yield path
        return
    for below, value, other in inner:
        if other is None:
            yield below
        else:
            yield from _walk(value, other, below)


def _agree(path: str, said: Any, ours: Any) -> bool:
    name = path.rpartition(".")[2]
    if _TIMES.search(name):
        return isinstance(ours, float | int)
    return isinstance(ours, int) if name in _SECONDS else bool(said == ours)


def word_differences(date: str, lines: Sequence[tuple[str, str]], answer: dict[str, Any]) -> list[str]:
    """Phases and messages that the answer does not have, or has in another order."""
    ours = [(each["Status"], each["StatusMessage"]) for each in answer["SecondaryStatusTransitions"]]
    wrong = [
        f"{status}: {message}"
        for status, message in lines
        if (status, message) not in ours and not (date < _ONE_MESSAGE_SINCE and message in MESSAGES.values())
    ]
    statuses = list(dict.fromkeys(status for status, _ in lines))
    order = [status for status, _ in ours if status in statuses]
    return wrong if order == statuses else [*wrong, f"order: {' '.join(statuses)}"]


def _arithmetic(record: dict[str, Any]) -> list[str]:
    """The seconds that smlocal counts for the times of the record, and those that it has."""
    facts = record["facts"]
    if "TrainingEndTime" not in facts:
        return []
    created = _moment(facts["CreationTime"])
    started, ended, modified = (
        _later(facts[name], created) for name in ("TrainingStartTime", "TrainingEndTime", "LastModifiedTime")
    )
    job = JobFacts(
        name="record",
        arn="",
        status=JobStatus.COMPLETED,
        phase=JobPhase.COMPLETED,
        created=created.timestamp(),
        modified=modified.timestamp(),
        started=started.timestamp(),
        ended=ended.timestamp(),
        failure_reason=None,
        transitions=[TransitionFacts(status="Completed", started=ended.timestamp(), ended=None, message="")],
        model_uri="",
    )
    counted = describe({}, job)
    wrong = [name for name in _SECONDS if name in facts and counted[name] != facts[name]]
    first, *_, last = (_later(each["StartTime"], created) for each in facts["SecondaryStatusTransitions"][1:])
    return [*wrong, *([] if (first, last) == (started, ended) and modified >= ended else ["times"])]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.removesuffix("Z") + "+00:00")


def _later(text: str, created: datetime) -> datetime:
    """A time of the job, which may be said without its day."""
    if "T" in text:
        return _moment(text)
    found = _moment(f"{created.date()}T{text}")
    return found if found >= created else found + timedelta(days=1)

"""The training jobs of a tuning job: how each is made from its trial, and what is read of it."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex as late
from smlocal.errors import JobUnknownError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import FINAL_METRICS
from smlocal.jobs.documents import LOCAL as LOCAL_BLOCK
from smlocal.jobs.logs.log_file import end_of_log, last_line
from smlocal.jobs.metrics.found_values import metrics_folder, read_values
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.leading import LedJobs
from smlocal.sagemaker.contract.documents.config_files import host_names
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.sagemaker.contract.requested import definitions_of
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.sagemaker.training.planning import waiting_job
from smlocal.sagemaker.tuning.facts import TUNING
from smlocal.sagemaker.tuning.ranges import Point
from smlocal.sagemaker.tuning.state import with_record
from smlocal.sagemaker.tuning.trials import Trial, trial_of
from smlocal.sagemaker.tuning.tuning_file import TuningFile

_LINES: Final = 3
_NOT_LITERAL: Final = late(r"\\.|\[[^]]*\]|\([^)]*\)")
_NUMBER: Final = late(r"\d|\b(?:nan|[+-]?inf(?:inity)?)\b", re.IGNORECASE)
_LINE: Final = 80
"""Characters of a line that are shown."""
_FAR: Final = 24
"""Characters between a word and its number."""
_WORDS: Final = late(r"[A-Za-z]+\d*|\d+")
_WORD_BEFORE: Final = late(r"([A-Za-z]+)[ _:./-]{0,2}$")
_SEARCHED: Final = 1000
"""Characters searched in a line: a number of 64,000 digits would take seconds."""
_VALUE: Final = late(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)")
_SPECIAL: Final = late(r"[\\.^$*+?{}\[\]|()]")
_GROUP: Final = "([0-9.eE+-]+)"
_RETRYABLE: Final = frozenset({reasons.INTERNAL_ERROR, reasons.NO_CAPACITY})


def training_job(file: TuningFile, definition: int, tuned: Point, *, name: str | None = None) -> JobFile:
    """The training job of a point, validated as the file of one would be."""
    given = file.definitions[definition]
    data = {**given.request, "HyperParameters": {**given.request["HyperParameters"], **tuned}}
    if name is not None:
        data = {"TrainingJobName": name, **data}
    local = local_of(file, definition)
    if local:
        data[LOCAL] = local
    document = Document(data, name=file.document.name, directory=file.document.directory)
    document.empty_source_fails = file.document.empty_source_fails
    return read_job(document, strict=False)


def local_of(file: TuningFile, definition: int) -> dict[str, Any]:
    """The local settings of its training jobs: its own, if the definitions have some, and those of flags."""
    local, parts = file.document.data.get(LOCAL) or {}, file.document.local_of_parts
    if not parts:
        return dict(local)
    flags = {name: value for name, value in local.items() if file.document.is_overridden((LOCAL, name))}
    return {**parts[definition], **flags}


@dataclass(kw_only=True, slots=True)
class TrialJobs:
    """The training jobs of one tuning job, as its trials."""

    jobs: LedJobs
    file: TuningFile
    _templates: dict[int, JobFile] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        """Where they are recorded."""
        return self.jobs.store

    def submit(self, trial: Trial) -> None:
        """Record the training job of a trial, and with it the trial."""
        self.jobs.record(waiting_job(self._job(trial), trial.name), trial.name, {"Trial": trial.document()})

    def recorded_after(self, count: int) -> list[Trial]:
        """The trials after so many whose jobs an earlier supervisor has recorded, and nothing else."""
        trials = [trial_of(each["Trial"]) for each in self.jobs.recorded()]
        return sorted((each for each in trials if each.number > count), key=lambda each: each.number)

    def _job(self, trial: Trial) -> JobFile:
        """One job of a definition is validated, the others differ from it in their hyperparameters only."""
        found = self._templates.get(trial.definition)
        if found is None:
            found = self._templates[trial.definition] = training_job(self.file, trial.definition, trial.tuned)
        raw = {**found.raw, "HyperParameters": {**found.raw["HyperParameters"], **trial.tuned}}
        data = {**raw, LOCAL: found.document.data.get(LOCAL) or {}}
        document = Document(data, name=found.document.name, directory=found.document.directory)
        return replace(found, raw=raw, document=document)

    def end(self, trial: Trial, record: JobRecord | None, metric: str) -> None:
        """Take over how it has ended."""
        if record is None:
            trial.status, trial.reason = "Stopped", None
            return
        with_record(trial, record)
        final = (self.store.document(trial.name, LOCAL_BLOCK) or {}).get(FINAL_METRICS) or ()
        trial.value = next((each["Value"] for each in final if each["MetricName"] == metric), None)
        trial.retryable = trial.status == "Failed" and record.failure_reason in _RETRYABLE

    def values(self, trial: Trial, metric: str) -> list[float] | None:
        """The values of the metric so far; None if there are none since the last call."""
        directory = self.store.directory(trial.name)
        try:
            size = os.stat(f"{metrics_folder(directory)}/values").st_size
        except OSError:
            return None
        if self._sizes.get(trial.name) == size:
            return None
        self._sizes[trial.name] = size
        request = self.file.definitions[trial.definition].request
        hosts = host_names(self.store.get(trial.name).instances)
        found = read_values(directory, definitions_of(request), hosts)
        return [each.value for each in found if each.name == metric]

    def without_value(self, trial: Trial, metric: str) -> str:
        """Why the log has no value of the metric, and a regex that would find one."""
        request = self.file.definitions[trial.definition].request
        regex = next(each.regex for each in definitions_of(request) if each.name == metric)
        return why_no_value(end_of_log(self.store.directory(trial.name), host_names(1)[0]), metric, regex)


def why_no_value(text: str, metric: str, regex: str) -> str:
    """One sentence about the end of a log. The given regex is not tried: it may take forever."""
    said = f"its regex {regex} finds no number"
    near = close_lines(text, metric, regex)
    for line in reversed(near):
        fitting = fitting_regex(line[:_SEARCHED], metric)
        if fitting is not None and fitting != regex:
            return f"{said}; {fitting} would, in: {_shortened(line)}"
    return f"{said}; these lines came close: {' | '.join(map(_shortened, near))}" if near else said


def fitting_regex(line: str, metric: str) -> str | None:
    """A regex for a number behind the last word of a metric's name, with words before it."""
    *others, last = _WORDS.findall(metric) or [""]
    places = [(_begin(line, each.start(), others), each) for each in re.finditer(re.escape(last), line, re.IGNORECASE)]
    # `val loss: 2` before `train loss: 1`, for validation:loss
    for begin, word in sorted(places, key=lambda place: place[0] == place[1].start()):
        number = _VALUE.search(line, word.end())
        if last and number is not None and number.start() - word.end() <= _FAR:
            return _SPECIAL.sub(r"\\\g<0>", line[begin : number.start()]) + _GROUP
    return None


def _begin(line: str, start: int, others: Sequence[str]) -> int:
    """Where the word before `start` begins, if one of `others` begins with it; else `start`."""
    before = _WORD_BEFORE.search(line, max(0, start - _FAR), start)
    if before is None or not any(each.lower().startswith(before[1].lower()[:3]) for each in others):
        return start
    return before.start()


def _shortened(text: str) -> str:
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"


def close_lines(text: str, metric: str, regex: str) -> list[str]:
    """The last lines with a number or nan, and a word of the metric's name or regex."""
    literal = _NOT_LITERAL.sub(" ", regex)
    words = {word.lower() for word in re.findall(r"[A-Za-z]{3,}", f"{metric} {literal}")}
    found = [
        line.strip()
        for line in text.splitlines()
        if any(word in line.lower() for word in words) and _NUMBER.search(line)
    ]
    return found[-_LINES:]


def parent_bests(store: Store, parents: Sequence[str]) -> list[Mapping[str, Any]]:
    """The best training job of each parent that is still recorded, as a summary."""
    found: list[Mapping[str, Any]] = []
    for name in parents:
        with suppress(JobUnknownError):
            best = (store.document(name, TUNING) or {}).get("Best")
            if best is not None:
                found.append({**best, "TuningJobName": name})
    return found


def cause_of(trial: Trial, store: Store) -> str:
    """Why it failed, if the reason has no cause: a hint, or the log's last line."""
    if trial.status != "Failed":
        return ""
    from smlocal.sagemaker.training.showing import TrainingShowing  # only after a failure

    reason = trial.reason or ""
    if not reason.startswith(TrainingShowing.NO_CAUSE):
        return ""
    local = store.document(trial.name, LOCAL_BLOCK) or {}
    if hints := local.get("Hints"):
        return str(hints[0])
    host = local.get("FailedHost")
    line = last_line(store.directory(trial.name), host) if host else ""
    return f"{reason.rpartition(', ')[2]}, last line: {line}" if line else ""

"""Reads all data that a report shows from the store. Members that an older job does not have are left out."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from stat import S_ISDIR
from typing import TYPE_CHECKING, Any

from smlocal.base.foreign_archive.archive import ForeignArchive
from smlocal.base.foreign_archive.stream import ArchiveError, opened, pieces_of
from smlocal.base.foreign_archive.tar_entries import BLOCK, TarEntry
from smlocal.jobs.documents import PLAN, REQUEST, STEP_OF
from smlocal.jobs.finish.describe import view_job
from smlocal.jobs.kind import module_of
from smlocal.jobs.kinds import Spoken, showing
from smlocal.jobs.logs.log_readers import LogTail, host_logs, read_log_tail
from smlocal.jobs.metrics.job_metrics import job_metrics
from smlocal.jobs.page_parts import WITHHELD, PageParts
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.usage.series import UsageSeries, read_series
from smlocal.jobs.view import JobView
from smlocal.report.charts import HostCharts, MetricCharts, host_charts, metric_charts
from smlocal.sagemaker.contract.outcome.reasons import RULE
from smlocal.sagemaker.tensor_place import tensor_place
from smlocal.sagemaker.usage_block import MeasuredHost, usage_block
from smlocal.terms.masking import HIDDEN, masked_request, with_strings

if TYPE_CHECKING:
    from smlocal.report.tensor_charts import TensorCharts

_MAX_SHOWN = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactMember:
    """One entry of an artifact."""

    path: str
    size: int | None
    """None for folders and links."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactContents:
    """An artifact and the names and sizes of its first members."""

    path: str
    size: int
    folder: bool
    """True if it is a folder of files, not an archive."""
    members: tuple[ArtifactMember, ...]
    count: int
    complete: bool
    """False if there may be more members than were counted."""
    error: str | None
    """Why it could not be read, or not to its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parent:
    """A job that has made others."""

    name: str
    said: str
    """Before its name: `of the search`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobReport:
    """One job at one moment."""

    time: float
    """When the job was read."""
    view: JobView
    """In the words of its platform."""
    spoken: Spoken
    """The words for this job in sentences."""
    parts: PageParts
    """Parts for jobs of its kind."""
    parent: Parent | None
    """What has made it, if another job has."""
    request: Mapping[str, Any]
    """Without secrets: reports are sent to others."""
    notes: tuple[Mapping[str, Any], ...]
    """Differences from the service, warnings first."""
    logs: tuple[LogTail, ...]
    metrics: MetricCharts
    rules: tuple[Mapping[str, Any], ...]
    """Every new status of a debugger rule, oldest first."""
    tensors: "TensorCharts | None"
    """None if the job saves no tensors."""
    usage: tuple[HostCharts, ...]
    usage_notes: tuple[str, ...]
    """Advice on instance types, and figures that could not be measured."""
    artifacts: Mapping[str, ArtifactContents]
    """By kind: `Model`, `Output`."""

    @property
    def running(self) -> bool:
        """True until the job has ended."""
        return not self.view.status.terminal

    @property
    def answer(self) -> Mapping[str, Any]:
        """As `describe --json`."""
        return self.view.answer


def read_job_report(store: Store, name: str, time: float, *, logs: bool = True) -> JobReport:
    """Read a job, ended or running, with its logs if they are wanted. `JobUnknownError` if there is no such job."""
    view, record = view_job(store, name), store.get(name)
    answer, began = view.answer, view.began
    plan: Mapping[str, Any] = store.document(name, PLAN) or {}
    local = answer["Local"]
    usage = local.get("Usage") or _usage_so_far(store, name, plan)
    notes = local.get("Notes", plan.get("Notes", ()))
    tails = [read_log_tail(host, path) for host, path in host_logs(store, name).items()] if logs else []
    artifacts = local.get("Artifacts") or {}
    request = masked_request(store.document(name, REQUEST))
    parts = _parts(store, record, view)
    return JobReport(
        time=time,
        view=view,
        spoken=showing(record.platform).spoken(record),
        parts=parts,
        parent=_parent(store, name, parts),
        request=with_strings(request, lambda _, text: text.replace(HIDDEN, WITHHELD)),
        notes=tuple(sorted(notes, key=lambda note: not note.get("Warning"))),
        logs=tuple(tail for tail in tails if tail is not None),
        metrics=metric_charts(job_metrics(store, name), began),
        rules=_rules(store, name, answer),
        tensors=_tensors(plan, store.directory(name)),
        usage=tuple(_host(figures, began) for figures in usage.get("Hosts", ())),
        usage_notes=(*(s for advice in usage.get("Advice", ()) for s in advice["Sentences"]), *usage.get("Notes", ())),
        artifacts={
            kind: read_contents(artifacts[kind], artifacts.get(f"{kind}Bytes", 0))
            for kind in ("Model", "Output")
            if artifacts.get(kind)
        },
    )


def _parts(store: Store, record: JobRecord, view: JobView) -> PageParts:
    if not showing(record.platform).HAS_PAGE_PARTS:
        return PageParts(details=view.details)
    found: PageParts = module_of(record.platform, "page_parts").page_parts(store, view)
    return found


def _parent(store: Store, name: str, parts: PageParts) -> Parent | None:
    if parts.parent:
        return Parent(name=parts.parent, said="of the search")
    by = store.document(name, STEP_OF)
    return None if by is None else Parent(name=by["Name"], said=f"of the step {by['Step']} of the execution")


def _rules(store: Store, name: str, answer: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    if not answer.get("DebugRuleEvaluationStatuses"):
        return ()
    return tuple(event.data for event in store.events(name) if event.kind == RULE and isinstance(event.data, dict))


def _tensors(plan: Mapping[str, Any], directory: str) -> "TensorCharts | None":
    place = tensor_place(plan, directory)
    if place is None:
        return None
    from smlocal.report.tensor_charts import tensor_charts  # few jobs save tensors

    return tensor_charts(place.folder)


def _usage_so_far(store: Store, name: str, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """The usage of a running job, which is not in its result yet."""
    if store.get(name).status.terminal:
        return {}
    hosts = [
        MeasuredHost(name=host["Name"], instance_type=host["InstanceType"])
        for host in plan.get("Hosts", ())
        if host.get("InstanceType")
    ]
    return usage_block(store.directory(name), hosts, machine_cpus=os.cpu_count() or 1) or {}


def _host(figures: Mapping[str, Any], began: float) -> HostCharts:
    series = UsageSeries()
    with suppress(OSError):
        series = read_series(figures["Series"])
    return host_charts(figures, series, began)


_FILES, _LINKS = {"file", "sparse"}, {"link", "hard"}
_MAX_COUNTED = 10_000
_MAX_BYTES = 1 << 29
"""All data before a header has to be decompressed: half a GiB takes one or two seconds."""


def read_contents(path: str, size: int) -> ArtifactContents:
    """Read an archive, or a folder of artifacts. An archive is not read again by this process until it changes."""
    try:
        state = os.stat(path)
    except OSError:
        return _read(path, size)
    if S_ISDIR(state.st_mode):
        return _read(path, size)
    return _read_once(path, size, (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=32)
def _read_once(path: str, size: int, state: tuple[int, ...]) -> ArtifactContents:  # noqa: ARG001 - part of the key
    return _read(path, size)


def _read(path: str, size: int) -> ArtifactContents:
    members: list[ArtifactMember] = []
    count, complete, error = 0, True, None
    folder = os.path.isdir(path)
    try:
        for member in _folder(path) if folder else _archive(path):
            if member is None or count == _MAX_COUNTED:
                complete = False
                break
            count += 1
            if len(members) < _MAX_SHOWN:
                members.append(member)
    except FileNotFoundError:
        error = "It no longer exists."
    except (OSError, ArchiveError) as raised:
        error = f"It cannot be read: {getattr(raised, 'strerror', None) or raised}."
    return ArtifactContents(
        path=path,
        size=size,
        folder=folder,
        members=tuple(members),
        count=count,
        complete=complete and not error,
        error=error,
    )


def _archive(path: str) -> Iterator[ArtifactMember | None]:
    """Members in the order of the archive. A None at the end: the rest was not read."""
    read = 0
    with opened(path) as file:
        for entry in ForeignArchive(pieces_of(file)):
            yield ArtifactMember(path=_label(entry), size=entry.size if entry.kind in _FILES else None)
            read += BLOCK + entry.size
            if read > _MAX_BYTES:
                yield None
                return


def _label(entry: TarEntry) -> str:
    if entry.kind == "folder":
        return f"{entry.name.rstrip('/')}/"
    return f"{entry.name} → {entry.link}" if entry.kind in _LINKS else entry.name


def _folder(top: str) -> Iterator[ArtifactMember]:
    """All files and links below a folder, by name."""
    pending = [top]
    while pending:
        with os.scandir(pending.pop()) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        below = []
        for entry in entries:
            path = os.path.relpath(entry.path, top)
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
            elif entry.is_symlink():
                yield ArtifactMember(path=f"{path} → {os.readlink(entry.path)}", size=None)
            else:
                yield ArtifactMember(path=path, size=entry.stat(follow_symlinks=False).st_size)
        pending += reversed(below)

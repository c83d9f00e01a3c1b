"""The jobs that were made here."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from smlocal.api.job_files import KINDS
from smlocal.api.job_names import jobs_to_end, resolve_job_name
from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import JobUnknownError
from smlocal.jobs.control.orphans import is_orphan
from smlocal.jobs.decide.spreading import BOOK, TAKEN
from smlocal.jobs.documents import LED_BY, LOCAL
from smlocal.jobs.finish.describe import has_kept_containers, list_entry
from smlocal.jobs.kinds import showing, spoken_of
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord

if TYPE_CHECKING:
    from smlocal.base.ci.reports import junit
    from smlocal.jobs.finish.report_files import job_suite
    from smlocal.sagemaker.serving.named_endpoint import endpoint_of
else:
    junit = at_use("smlocal.base.ci.reports", "junit")
    job_suite = at_use("smlocal.jobs.finish.report_files", "job_suite")
    endpoint_of = at_use("smlocal.sagemaker.serving.named_endpoint", "endpoint_of")

RUNNING: Final = "Running"
WAITING: Final = "Waiting"


def kinds_worded(words: Iterable[str]) -> frozenset[str]:
    """The names of the kinds with these words in options."""
    return frozenset(each.name for each in KINDS if each.word in words)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobSelection:
    """A choice of jobs."""

    statuses: frozenset[str] = frozenset()
    """How they ended, RUNNING or WAITING; empty: any."""
    ended_before: float | None = None
    """Seconds since the epoch; None: at any time, or not yet."""
    platforms: frozenset[str] = frozenset()
    """The names of their kinds; empty: any."""

    def has(self, record: JobRecord) -> bool:
        """True for a chosen job."""
        ended = record.modified if record.ended is None else record.ended
        state = record.status if record.status.terminal else WAITING if record.pending else RUNNING
        return (
            (not self.statuses or state in self.statuses)
            and (self.ended_before is None or (record.status.terminal and ended <= self.ended_before))
            and (not self.platforms or record.platform in self.platforms)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedJob:
    """One of them."""

    record: JobRecord
    supervisor_gone: bool
    """True for an unfinished job without a supervisor, unless it waits to be started."""
    containers_kept: bool
    """True for an ended job that has kept its containers."""


def list_jobs(*, limit: int | None, selection: JobSelection | None = None) -> list[ListedJob]:
    """The newest jobs first, at most `limit`."""
    with Store.open(home_directory()) as store:
        if selection is None:
            records = store.list(limit=limit)
        else:
            records = [record for record in store.list() if selection.has(record)][:limit]
        return [_listed(store, record) for record in records]


def with_leaders(jobs: Sequence[ListedJob]) -> list[ListedJob]:
    """The jobs, and then the searches and executions that have made some of them and are not among them."""
    found = {job.record.name: job for job in jobs}
    with Store.open(home_directory()) as store:
        new = list(found)
        while new:
            made = [each for kind in LED_BY for each in store.jobs_with(kind, new)]
            leaders = {by["Name"]: by["Run"] for _, by in made if "Name" in by and by["Name"] not in found}
            new = []
            for name, run in leaders.items():
                with suppress(JobUnknownError):  # it was removed
                    record = store.get(name)
                    if record.run_id == run:
                        found[name] = _listed(store, record)
                        new.append(name)
    return list(found.values())


def _listed(store: Store, record: JobRecord) -> ListedJob:
    return ListedJob(
        record=record,
        containers_kept=record.status.terminal and has_kept_containers(store.directory(record.name)),
        supervisor_gone=is_orphan(store, record),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldJob:
    """What a list shows of a job besides its state."""

    kind: str
    """`training`."""
    outcome: str
    """`loss 0.127`; empty if there is nothing to say."""
    cause: str
    """Why it failed; empty if it did not fail, or if only its log has the cause."""
    local: Mapping[str, Any]
    """Its `Local` block, if it has failed."""
    leader: str
    """The name of the listed search or execution that made it, if any."""


def told_of(jobs: Sequence[ListedJob]) -> dict[str, ToldJob]:
    """What a list shows of these jobs. Their documents are read together."""
    records = [job.record for job in jobs]
    words = {each.name: each.word for each in KINDS}
    wanted: dict[str, set[str]] = {each: {record.name for record in records} for each in LED_BY}
    for record in records:
        for document in showing(record.platform).LISTED:
            wanted.setdefault(document, set()).add(record.name)
        if record.failure_reason:
            wanted.setdefault(LOCAL, set()).add(record.name)
    found: dict[str, dict[str, Any]] = {record.name: {} for record in records}
    with Store.open(home_directory()) as store:
        for document, names in wanted.items():
            for record, content in store.jobs_with(document, sorted(names)):
                found[record.name][document] = content
        book = store.resource(*BOOK)
    taken = {} if book is None else book.body[TAKEN]
    told, runs = {}, {record.name: record.run_id for record in records}
    for record in records:
        documents, platform = found[record.name], showing(record.platform)
        local = (documents.get(LOCAL) or {}) if record.failure_reason else {}
        by: Mapping[str, Any] = next((documents[each] for each in LED_BY if each in documents), {})
        is_led = "Name" in by and runs.get(by["Name"]) == by["Run"]
        told[record.name] = ToldJob(
            kind=words[record.platform],
            outcome=", ".join(filter(None, (platform.outcome(documents), _engine(record, documents, taken)))),
            cause=platform.cause(record, local) if record.failure_reason else "",
            local=local,
            leader=str(by["Name"]) if is_led else "",
        )
    return told


def _engine(record: JobRecord, documents: Mapping[str, Any], taken: Mapping[str, Any]) -> str:
    """`on ssh://b` for a job that runs or ran whole on one of several engines. `taken`: what running ones have."""
    if record.status.terminal:
        placement = (documents.get(LOCAL) or {}).get("Placement") or {}
        name = next(iter(placement.values()), "")
    else:
        name = (taken.get(record.name) or {}).get("Name", "")
    return f"on {name}" if name else ""


def jobs_led_by(name: str) -> list[tuple[JobRecord, str]]:
    """The jobs that a search or an execution has made, failed ones first, then by age; each as it can be named."""
    with Store.open(home_directory()) as store:
        leader = (name, store.get(name).run_id)  # an earlier job may have had its name
        found = (each for kind in LED_BY for each in store.jobs_with(kind))
        led = [
            (record, f"{name}/{by['Step']}" if "Step" in by else record.name)
            for record, by in found
            if (by["Name"], by["Run"]) == leader
        ]
    return sorted(led, key=lambda each: (each[0].failure_reason is None, each[0].created))


def unfinished_jobs() -> list[str]:
    """The names of jobs that have not ended, newest first; not of those that another one of them has made."""
    with Store.open(home_directory()) as store:
        names = [record.name for record in reversed(store.unfinished())]
        made = (each for kind in LED_BY for each in store.jobs_with(kind, names))
        led = {record.name for record, by in made if by.get("Name") in names}
        return [name for name in names if name not in led]


def job_documents(jobs: Sequence[ListedJob]) -> dict[str, list[dict[str, Any]]]:
    """The lists of the platforms' own answers, with what only this machine knows."""
    lists: dict[str, list[dict[str, Any]]] = {"TrainingJobSummaries": []}
    with Store.open(home_directory()) as store:
        for job in jobs:
            try:
                of_list, document = list_entry(store, job.record)
            except JobUnknownError:  # it was removed meanwhile
                continue
            document |= {"ContainersKept": job.containers_kept or None, "SupervisorGone": job.supervisor_gone or None}
            known = {name: value for name, value in document.items() if value is not None}
            lists.setdefault(of_list, []).append(known)
    return lists


def matching_jobs(pattern: str, selection: JobSelection | None = None, *, stop: bool = False) -> list[str]:
    """The names of the jobs that match a shell pattern, newest first; without * ? [] the job that is meant.

    `stop`: they are ended first, an endpoint with all its jobs.
    """
    is_name = not set(pattern) & set("*?[")
    if is_name and selection is None:
        return jobs_to_end(pattern, whole_endpoint=stop)
    one = resolve_job_name(pattern) if is_name else None
    with Store.open(home_directory()) as store:
        return [
            record.name
            for record in (store.list() if one is None else [store.get(one)])
            if (one is not None or fnmatchcase(record.name, pattern)) and (selection is None or selection.has(record))
        ]


def has_unpacked_artifacts(name: str) -> bool:
    """True if the only copy of what a job has written is in its folder here."""
    with Store.open(home_directory()) as store:
        artifacts = (store.document(name, LOCAL) or {}).get("Artifacts") or {}
        return bool(artifacts.get("Kept") or artifacts.get("NotSaved"))


def jobs_junit(names: Sequence[str]) -> str:
    """JUnit XML with a case for each of these jobs, ended or not."""
    with Store.open(home_directory()) as store:
        return junit([job_suite(store, names)])


def counted(names: Sequence[str]) -> str:
    """`2 training jobs, 1 endpoint`: an update is a job of the same endpoint.

    Jobs that have been deleted are counted with the others if these are all of one kind.
    """
    found: dict[tuple[str, str], None] = {}
    deleted = 0
    with Store.open(home_directory()) as store:
        for name in names:
            try:
                found[spoken_of(store.get(name)).job, endpoint_of(store, name)] = None
            except JobUnknownError:
                deleted += 1
    words = Counter(word for word, _ in found)
    if deleted:
        words[next(iter(words)) if len(words) == 1 else "job"] += deleted
    return ", ".join(f"{number} {word}{'s' if number > 1 else ''}" for word, number in words.items())

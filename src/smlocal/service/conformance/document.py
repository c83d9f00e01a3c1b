"""A document of conformance: the probe's findings in the containers of some jobs, and how these jobs ended. Pure.

    {"Schema": 1, "Smlocal": VERSION, "Jobs": {CASE: {"Outcome": …, "Archives": …, "Hosts": {HOST: …}}}}

The data of a host were written there by the probe (`probe.document`), with `Signals` of the job that is stopped.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import ConformanceDocumentError
from smlocal.service.conformance.probe import SCHEMA, masked_tree
from smlocal.terms.masking import masked

Document = dict[str, Any]
Signs = Mapping[str, list[tuple[str, float]]]
"""By host: the observation (a signal, or that the program lives) and its time, as seconds since 1970."""
ALIVE = "alive"


@dataclass(frozen=True, kw_only=True, slots=True)
class JobPieces:
    """The known parts of one job."""

    hosts: Mapping[str, Document] = field(default_factory=dict)
    signs: Signs = field(default_factory=dict)
    archives: Mapping[str, Any] = field(default_factory=dict)
    """By `Model` and `Output`: the entries."""
    answer: Mapping[str, Any] | None = None
    """The answer of DescribeTrainingJob."""

    def with_more(self, more: "JobPieces") -> "JobPieces":
        """Both together."""
        signs = {host: [*self.signs.get(host, []), *more.signs.get(host, [])] for host in {*self.signs, *more.signs}}
        return JobPieces(
            hosts={**self.hosts, **more.hosts},
            signs=signs,
            archives={**self.archives, **more.archives},
            answer=more.answer if self.answer is None else self.answer,
        )


def join(jobs: Iterable[tuple[str, JobPieces]], *, version: str) -> Document:
    """One document of several jobs; each comes with where it was found."""
    found: dict[str, Any] = {}
    for place, pieces in jobs:
        case = _case(place, pieces)
        if case in found:
            raise ConformanceDocumentError(
                f"{place} is a second job of the case {case!r}",
                remedy=["Give each case once; compare two documents with smlocal conformance diff."],
            )
        found[case] = {
            **({"Outcome": outcome(pieces.answer)} if pieces.answer is not None else {}),
            **({"Archives": dict(pieces.archives)} if pieces.archives else {}),
            "Hosts": {
                host: {**_masked(seen), **_signals(pieces.signs.get(host, []))} for host, seen in pieces.hosts.items()
            },
        }
    return {"Schema": SCHEMA, "Smlocal": version, "Jobs": found}


def _case(place: str, pieces: JobPieces) -> str:
    cases = sorted({str(each["Case"]) for each in pieces.hosts.values()})
    if len(cases) == 1:
        return cases[0]
    if not cases:
        raise ConformanceDocumentError(
            f"{place} has no document of smlocal conformance",
            remedy=[
                "Give the model.tar.gz or the log of a job of this image.",
                "If the job ran here, smlocal logs shows why it has none.",
            ],
        )
    raise ConformanceDocumentError(f"{place} has documents of several jobs: {', '.join(cases)}")


def _masked(seen: Document) -> Document:
    """The probe has masked it; the rules of this machine know more names of secrets."""
    environment = seen.get("Environment")
    if not isinstance(environment, Mapping):
        return seen
    return {**seen, "Environment": {name: masked(name, str(value)) for name, value in environment.items()}}


def _signals(signs: list[tuple[str, float]]) -> Document:
    if not signs:
        return {}
    began = min(when for _, when in signs)
    last = max(when for _, when in signs)
    seen = sorted({(when, name) for name, when in signs if name != ALIVE})
    return {"Signals": {"Seen": [name for _, name in seen], "SecondsToTheLastSignOfLife": round(last - began, 1)}}


def outcome(answer: Mapping[str, Any]) -> Document:
    """The end of the job in a describe answer, without accounts, buckets and roles."""
    kept: Document = {
        "TrainingJobStatus": answer.get("TrainingJobStatus"),
        "SecondaryStatus": answer.get("SecondaryStatus"),
        "FailureReason": answer.get("FailureReason"),
        "Transitions": [
            f"{each.get('Status')}: {each.get('StatusMessage')}"
            for each in answer.get("SecondaryStatusTransitions") or ()
        ],
        "Metrics": sorted(str(each.get("MetricName")) for each in answer.get("FinalMetricDataList") or ()),
        "Members": sorted(set(answer) - {"Local", "ResponseMetadata"}),
    }
    shown: Document = masked_tree(kept)
    return shown


def check_host_document(place: str, found: Any) -> Document:
    """A document of one host, if this version can read it."""
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in ("Case", "Host")):
        raise ConformanceDocumentError(f"{place} is not a document of smlocal conformance")
    _check_schema(place, found)
    return found


def check_document(place: str, found: Any) -> Document:
    """A whole document, if this version can read it."""
    jobs = found.get("Jobs") if isinstance(found, dict) else None
    valid = isinstance(jobs, dict) and all(
        isinstance(job, dict) and isinstance(hosts := job.get("Hosts"), dict) and all(map(_is_host, hosts.values()))
        for job in jobs.values()
    )
    if not valid:
        raise ConformanceDocumentError(f"{place} is not a document of smlocal conformance")
    _check_schema(place, found)
    whole: Document = found
    return whole


def _is_host(seen: Any) -> bool:
    return isinstance(seen, dict)


def _check_schema(place: str, found: Document) -> None:
    schema = found.get("Schema")
    if not isinstance(schema, int) or schema < 1:
        raise ConformanceDocumentError(f"{place} has no version of its schema")
    if schema > SCHEMA:
        raise ConformanceDocumentError(
            f"{place} has version {schema} of the schema, and this smlocal knows versions up to {SCHEMA}",
            remedy=["Install a newer smlocal."],
        )

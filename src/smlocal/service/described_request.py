"""A job of the service of a kind without training: the request in its description, and the file of that."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from smlocal.api.recorded_job import recorded_request
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import ServiceForbiddenError, UsageRefusedError
from smlocal.jobfile.document import Document, Elsewhere
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.yaml_text import one_line, yaml_text
from smlocal.jobs.kind import Kind
from smlocal.sagemaker.jobfile.local_paths import local_locations, refuse_local_paths
from smlocal.sagemaker.kinds import TUNING, request_reading
from smlocal.service.described_job import known_members
from smlocal.service.service import Service
from smlocal.terms.model.structure import members


def _arn_parts(kind: Kind, arn: str) -> re.Match[str] | None:
    """`region` and `name` of an ARN; None for that of anything else."""
    return re.fullmatch(
        rf"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):\d{{12}}:{kind.in_commands}/(?P<name>.+)", arn
    )


def is_answer(kind: Kind, data: Mapping[str, Any]) -> bool:
    """True for an answer that describes one."""
    return kind.arn_member in data and kind.sign in data


def described(kind: Kind, data: Mapping[str, Any]) -> "DescribedRequest":
    """The job in an answer or a request."""
    reading = request_reading(kind)
    ours = members(reading.SHAPE)
    taken = {each: data[each] for each in ours if data.get(each) is not None}
    answer = data if is_answer(kind, data) else None
    local = data.get(LOCAL)
    if answer is not None:
        if isinstance(local, Mapping) and isinstance(local.get("Request"), Mapping):
            for each, value in local["Request"].items():  # of our own answer: what the service does not return
                taken.setdefault(each, value)
        reading.remove_additions(taken)
    ignored = {LOCAL, *((kind.arn_member, *reading.ONLY_ANSWERED) if answer is not None else ())}
    newer = {each: value for each, value in data.items() if each not in ours and each not in ignored}
    return DescribedRequest(
        kind=kind,
        request=known_members(reading.SHAPE, taken, (), newer),
        local=local if answer is None and isinstance(local, Mapping) else {},
        answer=answer,
        newer=newer,
    )


def fetch(kind: Kind, arn: str, *, profile: str | None, region: str | None) -> tuple["DescribedRequest", list[str]]:
    """A job of the service by its ARN, and remarks."""
    found = _arn_parts(kind, arn)
    if found is None:
        raise UsageRefusedError(f"{arn!r} is not the ARN of {kind.with_article}")
    service = Service(profile=profile, region=region or found["region"], kind=kind)
    notes = []
    tags = []
    try:
        answer = service.describe(found["name"])
        try:
            tags = service.tags(answer[kind.arn_member])
        except ServiceForbiddenError as error:
            notes.append(f"Tags are not known: the AWS credentials may not do {error.action}.")
    finally:
        service.close()
    return described(kind, {**answer, **({"Tags": tags} if tags else {})}), notes


def use_request(kind: Kind, document: Document, *, allow_local_paths: bool) -> "DescribedRequest":
    """Replace the answer in a document by its request, with a new name and the region of the ARN."""
    reading, job = request_reading(kind), described(kind, document.data)
    document.elsewhere = job.elsewhere(allow_local_paths=allow_local_paths)
    new = reading.new_name(reading.stem_of(job.name), datetime.now().astimezone()) if job.name else ""
    document.data = {
        **job.request,
        **({kind.name_member: new} if new else {}),
        **({LOCAL: {"Region": job.region}} if job.region else {}),
    }
    return job


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedRequest:
    """One job."""

    kind: Kind = field(repr=False)
    request: dict[str, Any]
    """The request that creates it, in the service's order."""
    local: Mapping[str, Any]
    """The `Local` block of a request of the user's own; empty for an answer."""
    answer: Mapping[str, Any] | None
    """The answer that describes it; None for a request."""
    newer: Mapping[str, Any]
    """Path to value of members that this version does not know."""

    @property
    def name(self) -> str:
        """Empty if the request has none."""
        return str(self.request.get(self.kind.name_member) or "")

    @property
    def arn(self) -> str:
        """Empty for a request."""
        return str((self.answer or {}).get(self.kind.arn_member) or "")

    @property
    def region(self) -> str:
        """Where the job ran; empty for a request."""
        found = _arn_parts(self.kind, self.arn)
        return found["region"] if found is not None else ""

    @property
    def status(self) -> str:
        """Its status when it was described; empty for a request."""
        return str((self.answer or {}).get(self.kind.status_member) or "")

    @property
    def state(self) -> str:
        """Its status and region, as a remark has them."""
        return ", ".join(filter(None, (self.status, self.region)))

    def check_local_paths(self, *, name: str, allow_local_paths: bool) -> None:
        """`PathInDescriptionError` for an answer with paths that it may not name. `name`: of the file."""
        document = Document(self.request, name=name, directory=os.getcwd())
        document.elsewhere = self.elsewhere(allow_local_paths=allow_local_paths)
        refuse_local_paths(document, request_reading(self.kind).SHAPE)

    def elsewhere(self, *, allow_local_paths: bool) -> Elsewhere | None:
        """As that of a training job: only paths are allowed that the job here of this name and ARN was given."""
        if self.answer is None:
            return None
        recorded = recorded_request(self.name, arn=self.arn)
        if recorded is None:
            return Elsewhere()
        known = local_locations(recorded, request_reading(self.kind).SHAPE) if allow_local_paths else ()
        return Elsewhere(own_job=self.name, allowed=frozenset(known))

    def file_text(self, *, file: str) -> str:
        """A file that `smlocal run` takes."""
        return "".join(f"{line}\n" for line in self._lines(file))

    def _lines(self, file: str) -> Iterator[str]:
        kind = self.kind
        yield f"# A Create{kind.stem} request. Run it here:  smlocal run {one_line(file)}"
        if self.answer is not None:
            yield f"# As the {kind.spoken} {one_line(self.name)} ({one_line(self.state)})."
        yield ""
        if self.name:
            yield f"# {yaml_text({kind.name_member: self.name}).splitlines()[0]}"
            yield f"# Without {kind.name_member}, the name is made from this file's name and the time."
        yield from yaml_text(
            {each: value for each, value in self.request.items() if each != kind.name_member}
        ).splitlines()
        settings = {**({"Region": self.region} if self.region else {}), **self.local}
        if settings:
            yield from yaml_text({LOCAL: settings}).splitlines()
        if self.newer:
            yield "# This version of smlocal does not know these members, and would refuse them:"
            yield from (f"#   {line}" for line in yaml_text(dict(self.newer)).splitlines())


def remarks(job: DescribedRequest) -> Iterator[str]:
    """Sentences about what a run here would need."""
    parents = (job.request.get("WarmStartConfig") or {}).get("ParentHyperParameterTuningJobs") or ()
    names = [str(each.get(TUNING.name_member)) for each in parents if isinstance(each, Mapping)]
    if names:
        yield f"it starts from tuning jobs that have to be on this machine: {', '.join(names)} (WarmStartConfig)"

"""A job of the service of a kind without training: the request in its description, and the file of that."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from smlocal.api.recorded_job import recorded_request
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import ServiceForbiddenError, UsageRefusedError
from smlocal.jobfile.document import Document, Elsewhere
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.yaml_text import one_line, yaml_text
from smlocal.sagemaker.jobfile.local_paths import local_locations, refuse_local_paths
from smlocal.service.described_job import known_members
from smlocal.service.service import Service
from smlocal.terms.model.structure import Structure, members


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedKind:
    """What differs between kinds."""

    words: str
    """`processing job`, for sentences."""
    prefix: str
    """`ProcessingJob`: what names of members and operations begin or end with."""
    resource: str
    """`processing-job`, as ARNs have it."""
    shape: type[Structure]
    """The request that creates one."""
    sign: str
    """A member of every answer and every request."""
    answer_only: frozenset[str]
    """Members of the answer that are not in the request."""
    new_name: Callable[[str, datetime], str]
    """The name of another run, from that of the first."""
    remove_additions: Callable[[dict[str, Any]], None] = lambda _: None
    """Takes away what the service adds to members of the request."""

    @property
    def name(self) -> str:
        """The member with the name."""
        return f"{self.prefix}Name"

    @property
    def arn(self) -> str:
        """The member with the ARN."""
        return f"{self.prefix}Arn"

    def arn_parts(self, arn: str) -> re.Match[str] | None:
        """`region` and `name` of an ARN; None for that of anything else."""
        return re.fullmatch(
            rf"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):\d{{12}}:{self.resource}/(?P<name>.+)", arn
        )

    def is_answer(self, data: Mapping[str, Any]) -> bool:
        """True for an answer that describes one."""
        return self.arn in data and self.sign in data

    def described(self, data: Mapping[str, Any]) -> "DescribedRequest":
        """The job in an answer or a request."""
        ours = members(self.shape)
        taken = {each: data[each] for each in ours if data.get(each) is not None}
        answer = data if self.is_answer(data) else None
        local = data.get(LOCAL)
        if answer is not None:
            if isinstance(local, Mapping) and isinstance(local.get("Request"), Mapping):
                for each, value in local["Request"].items():  # of our own answer: what the service does not return
                    taken.setdefault(each, value)
            self.remove_additions(taken)
        ignored = {LOCAL, *((self.arn, *self.answer_only) if answer is not None else ())}
        newer = {each: value for each, value in data.items() if each not in ours and each not in ignored}
        return DescribedRequest(
            kind=self,
            request=known_members(self.shape, taken, (), newer),
            local=local if answer is None and isinstance(local, Mapping) else {},
            answer=answer,
            newer=newer,
        )

    def fetch(self, arn: str, *, profile: str | None, region: str | None) -> tuple["DescribedRequest", list[str]]:
        """A job of the service by its ARN, and remarks."""
        found = self.arn_parts(arn)
        if found is None:
            raise UsageRefusedError(f"{arn!r} is not the ARN of a {self.words}")
        service = Service(profile=profile, region=region or found["region"])
        notes = []
        tags = []
        try:
            answer = service.call("sagemaker", f"Describe{self.prefix}", **{self.name: found["name"]})
            try:
                tags = service.tags(answer[self.arn])
            except ServiceForbiddenError as error:
                notes.append(f"Tags are not known: the AWS credentials may not do {error.action}.")
        finally:
            service.close()
        return self.described({**answer, **({"Tags": tags} if tags else {})}), notes

    def use_request(self, document: Document, *, allow_local_paths: bool) -> "DescribedRequest":
        """Replace the answer in a document by its request, with a new name and the region of the ARN."""
        job = self.described(document.data)
        document.elsewhere = job.elsewhere(allow_local_paths=allow_local_paths)
        document.data = {
            **job.request,
            **({self.name: self.new_name(job.name, datetime.now().astimezone())} if job.name else {}),
            **({LOCAL: {"Region": job.region}} if job.region else {}),
        }
        return job


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedRequest:
    """One job."""

    kind: DescribedKind = field(repr=False)
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
        return str(self.request.get(self.kind.name) or "")

    @property
    def arn(self) -> str:
        """Empty for a request."""
        return str((self.answer or {}).get(self.kind.arn) or "")

    @property
    def region(self) -> str:
        """Where the job ran; empty for a request."""
        found = self.kind.arn_parts(self.arn)
        return found["region"] if found is not None else ""

    @property
    def status(self) -> str:
        """Its status when it was described; empty for a request."""
        return str((self.answer or {}).get(f"{self.kind.prefix}Status") or "")

    @property
    def state(self) -> str:
        """Its status and region, as a remark has them."""
        return ", ".join(filter(None, (self.status, self.region)))

    def check_local_paths(self, *, name: str, allow_local_paths: bool) -> None:
        """`PathInDescriptionError` for an answer with paths that it may not name. `name`: of the file."""
        document = Document(self.request, name=name, directory=os.getcwd())
        document.elsewhere = self.elsewhere(allow_local_paths=allow_local_paths)
        refuse_local_paths(document, self.kind.shape)

    def elsewhere(self, *, allow_local_paths: bool) -> Elsewhere | None:
        """As that of a training job: only paths are allowed that the job here of this name and ARN was given."""
        if self.answer is None:
            return None
        recorded = recorded_request(self.name, arn=self.arn)
        if recorded is None:
            return Elsewhere()
        known = local_locations(recorded, self.kind.shape) if allow_local_paths else ()
        return Elsewhere(own_job=self.name, allowed=frozenset(known))

    def file_text(self, *, file: str) -> str:
        """A file that `smlocal run` takes."""
        return "".join(f"{line}\n" for line in self._lines(file))

    def _lines(self, file: str) -> Iterator[str]:
        kind = self.kind
        yield f"# A Create{kind.prefix} request. Run it here:  smlocal run {one_line(file)}"
        if self.answer is not None:
            yield f"# As the {kind.words} {one_line(self.name)} ({one_line(self.state)})."
        yield ""
        if self.name:
            yield f"# {yaml_text({kind.name: self.name}).splitlines()[0]}"
            yield f"# Without {kind.name}, the name is made from this file's name and the time."
        yield from yaml_text({each: value for each, value in self.request.items() if each != kind.name}).splitlines()
        settings = {**({"Region": self.region} if self.region else {}), **self.local}
        if settings:
            yield from yaml_text({LOCAL: settings}).splitlines()
        if self.newer:
            yield "# This version of smlocal does not know these members, and would refuse them:"
            yield from (f"#   {line}" for line in yaml_text(dict(self.newer)).splitlines())

"""A job on the service: whether its name is free, its creation, its phases and its log as they come, and its end."""

import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from smlocal.errors import (
    NameInUseError,
    ServiceForbiddenError,
    ServiceJobUnknownError,
    ServiceRefusedError,
    SmlocalError,
)
from smlocal.errors.of_commands import ImageNotInEcrError
from smlocal.jobs.decide.hints import is_full, is_without_credentials, is_without_shared_memory, program_hint
from smlocal.jobs.kind import Kind
from smlocal.service.following import ENDED, Following, Viewer
from smlocal.service.job_kind import kind_of, phase_of, transitions
from smlocal.service.last_lines import host_in
from smlocal.service.service import Service

_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/"
    r"(?P<repository>[^:@]+)(?::(?P<tag>[^@]+))?(?:@(?P<digest>.+))?"
)
_NOT_THERE = {"ImageNotFoundException", "RepositoryNotFoundException"}


def check_name(service: Service, name: str) -> None:
    """`NameInUseError` if the account has a job of this name in this region."""
    try:
        found = service.describe(name)
    except ServiceJobUnknownError:
        return
    made = found["CreationTime"].astimezone(UTC)
    status = found[service.kind.status_member]
    raise _in_use(service.kind, name, f"It is {status}, and was made at {made:%Y-%m-%d %H:%M} UTC.")


def check_image(service: Service, request: Mapping[str, Any], *, named_by: str = "with --image") -> str | None:
    """`ImageNotInEcrError` for an image that Amazon ECR does not have; a sentence if that cannot be found out."""
    return check_image_named(service, kind_of(request).reads.image_in(request) or "", named_by=named_by)


def check_image_named(service: Service, image: str, *, named_by: str) -> str | None:
    """The same for the image itself."""
    found = _ECR.fullmatch(image)
    if found is None:
        return None
    wanted = {"imageDigest": found["digest"]} if found["digest"] else {"imageTag": found["tag"] or "latest"}
    try:
        service.call(
            "ecr",
            "DescribeImages",
            region=found["region"],
            registryId=found["account"],
            repositoryName=found["repository"],
            imageIds=[wanted],
        )
    except ServiceRefusedError as error:
        if error.code not in _NOT_THERE:
            return f"smlocal could not find out whether Amazon ECR has the image: {error.sentence}"
        raise ImageNotInEcrError(
            f"Amazon ECR does not have the image {found[0]}",
            details=error.details,
            remedy=("Push it:  docker push " + found[0], f"Or name another one {named_by}."),
        ) from error
    except SmlocalError as error:
        return f"smlocal could not find out whether Amazon ECR has the image: {error.sentence}"
    return None


def create(service: Service, request: Mapping[str, Any]) -> str:
    """Create the job; returns its ARN."""
    try:
        answer = service.call("sagemaker", f"Create{service.kind.stem}", **request)
    except ServiceRefusedError as error:
        if error.code == "ResourceInUse":
            raise _in_use(
                service.kind,
                str(request[service.kind.name_member]),
                "It was made since this command began, maybe by an earlier try of it.",
            ) from error
        raise
    return str(answer[service.kind.arn_member])


def stop(service: Service, name: str) -> None:
    """Ask the service to stop the job."""
    try:
        service.stop(name)
    except ServiceRefusedError:
        if service.describe(name)[service.kind.status_member] not in {*ENDED, "Stopping"}:
            raise  # otherwise it has ended by itself


def answer_document(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer of the service as JSON can hold it: times as seconds, as smlocal's own documents have them."""
    found: dict[str, Any] = _plain({name: each for name, each in answer.items() if name != "ResponseMetadata"})
    return found


def _in_use(kind: Kind, name: str, detail: str) -> NameInUseError:
    return NameInUseError(
        f"{kind.with_article.capitalize()} with the name '{name}' already exists on the service (ResourceInUse).",
        details=(detail,),
        remedy=("Give this one another name with --name; nothing was uploaded or started.",),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.timestamp() if isinstance(value, datetime) else value


_NO_PHASE = {*ENDED, "MaxRuntimeExceeded", "MaxWaitTimeExceeded", "Interrupted"}
_PAUSE = 1.0
_LOOKS_PER_SEARCH = 10
_LAST_LOOKS = 10
_KEPT_BYTES = 16 << 10
"""The bytes kept of the end of each host's log."""


class Followed(Following):
    """One job; `follow` may be called again after it was interrupted."""

    def __init__(self, service: Service, name: str, viewer: Viewer, *, pause: float = _PAUSE) -> None:
        """`pause`: the seconds between two looks."""
        super().__init__(service, name, viewer, pause=pause)
        self._kind = service.kind
        self._tokens: dict[str, str | None] = {}
        self._shown = 0
        """Phases whose end was shown."""
        self._begun: int | None = None
        """The phase whose beginning was shown."""
        self._log_refused = False
        self._looks = 0
        self.tails: dict[str, bytes] = {}
        """The end of the log of each host."""

    def _look(self) -> dict[str, Any] | None:
        answer = self._service.describe(self._name)
        ended = answer[self._kind.status_member] in ENDED
        self._show_phases(answer, log_is_read=False)
        hosts = _hosts(answer)
        self._read_logs(hosts)
        if ended:
            self._read_rest(hosts)
        self._show_phases(answer, log_is_read=True)
        return answer if ended else None

    def _show_phases(self, answer: Mapping[str, Any], *, log_is_read: bool) -> None:
        """Show phases that are over.

        The end of training comes after the log, so before it is read only what precedes it.
        """
        phases = _phases(answer)
        ended = answer[self._kind.status_member] in ENDED
        while self._shown < len(phases):
            phase = phases[self._shown]
            training = phase["Status"] == phase_of(self._kind)
            if "EndTime" not in phase and not ended:
                if not log_is_read:
                    self._show_current(phase)
                return
            if training and not ended and phases[-1]["Status"] == "Uploading":
                if not log_is_read:
                    self._show_current(phases[-1])  # whether training has failed is said after the upload
                return
            if training and not log_is_read:
                return
            end = phase.get("EndTime") or answer["LastModifiedTime"]
            self._viewer.phase_ended(
                phase["Status"],
                (end - phase["StartTime"]).total_seconds(),
                phase.get("StatusMessage", ""),
                good=self._shown != _failed_phase(answer, phases, self._kind),
            )
            self._shown += 1

    def _show_current(self, phase: Mapping[str, Any]) -> None:
        if phase["Status"] != phase_of(self._kind):
            self._viewer.working(f"{phase['Status']}: {phase.get('StatusMessage', '')}".rstrip(": "))
        elif self._begun != self._shown:
            self._begun = self._shown
            self._viewer.phase_began(phase_of(self._kind))

    def _read_rest(self, hosts: int) -> None:
        """CloudWatch may show the last lines some seconds after the end."""
        for _ in range(_LAST_LOOKS):
            time.sleep(self._pause)
            if not self._read_logs(hosts):
                break

    def _read_logs(self, hosts: int) -> bool:
        """Show new lines; True if there were any."""
        if self._log_refused:
            return False
        found = False
        try:
            if len(self._tokens) < hosts or self._looks % _LOOKS_PER_SEARCH == 0:
                self._find_streams()  # another attempt writes to streams of its own
            self._looks += 1
            for stream in sorted(self._tokens):
                found |= self._read_stream(stream)
        except ServiceForbiddenError as error:
            self._log_refused = True
            self._viewer.warning(f"the log cannot be shown: {error.sentence}")
        except ServiceRefusedError as error:
            if error.code != "ResourceNotFoundException":  # nothing has been written yet
                raise
        return found

    def _find_streams(self) -> None:
        for page in self._service.log_pages("DescribeLogStreams", self._name):
            for stream in page.get("logStreams", ()):
                self._tokens.setdefault(stream["logStreamName"], None)

    def _read_stream(self, stream: str) -> bool:
        host = host_in(stream)
        found = False
        while True:
            token = self._tokens[stream]
            more = {} if token is None else {"nextToken": token}
            page = self._service.call(
                "logs",
                "GetLogEvents",
                logGroupName=self._kind.log_group,
                logStreamName=stream,
                startFromHead=True,
                **more,
            )
            events = page.get("events", ())
            if events:
                data = b"".join(each["message"].encode(errors="replace") + b"\n" for each in events)
                self._tokens[stream] = page["nextForwardToken"]
                self.tails[host] = (self.tails.get(host, b"") + data)[-_KEPT_BYTES:]
                self._viewer.lines(host, data)
                found = True
            if not events and page["nextForwardToken"] == token:
                return found
            self._tokens[stream] = page["nextForwardToken"]


def _hosts(answer: Mapping[str, Any]) -> int:
    resources = answer.get("ResourceConfig") or (answer.get("ProcessingResources") or {}).get("ClusterConfig") or {}
    groups = resources.get("InstanceGroups") or ()
    return sum(group["InstanceCount"] for group in groups) or int(resources.get("InstanceCount") or 1)


def _phases(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in transitions(answer) if each["Status"] not in _NO_PHASE]


def _failed_phase(answer: Mapping[str, Any], phases: list[Mapping[str, Any]], kind: Kind) -> int | None:
    """The index of the phase that made the job fail: training, if the reason is the algorithm's."""
    if answer[kind.status_member] != "Failed":
        return None
    training = [index for index, phase in enumerate(phases) if phase["Status"] == phase_of(kind)]
    if training and str(answer.get("FailureReason", "")).startswith("AlgorithmError"):
        return training[-1]
    return len(phases) - 1


_EXIT_CODE = re.compile(r"exit code: (\d+)\s*$")
_KILLED = 137


def failure_hints(reason: str, tails: Mapping[str, str]) -> Iterator[str]:
    """Hints on a failed job. `tails`: the end of the log of each host."""
    found = _EXIT_CODE.search(reason)
    code = int(found[1]) if found else 1
    log = "\n".join(tails.values())
    program = program_hint(code, log)
    if program is not None:
        yield program
    if code == _KILLED:
        yield "Exit code 137 means SIGKILL, mostly because the memory of the instance ran out."
    if is_without_shared_memory(log):
        yield "Shared memory (/dev/shm) ran out: use fewer workers of a data loader, or a larger instance."
    elif is_full(log):
        yield "A disk was full: increase ResourceConfig.VolumeSizeInGB."
    if is_without_credentials(log):
        yield "It called AWS without credentials: on the service it gets those of RoleArn, unless it is isolated."

"""Runs the jobs of the probe's image on the service, and saves what they leave in a folder for each."""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import (
    ServiceForbiddenError,
    ServiceRefusedError,
    ServiceUnreachableError,
    SmlocalError,
    UsageRefusedError,
)
from smlocal.sagemaker.contract.identity import default_name
from smlocal.service.conformance.cases import DATA, READY, ConformanceCase, request, write_file
from smlocal.service.service import Service

_PAUSE_SECONDS = 2.0
_LATEST_STOP_SECONDS = 300.0
"""So long after training has begun, a job whose log cannot be read is stopped anyway."""
_LOST_SECONDS = 600.0
"""So long may the service not answer."""
_ENDED = {"Completed", "Failed", "Stopped"}
_LOCATION = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")
_ARCHIVES = ("model.tar.gz", "output.tar.gz")

Said = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class ServicePlace:
    """A prefix in S3, where the data goes, and the artifacts."""

    bucket: str
    key: str

    @classmethod
    def read(cls, uri: str) -> "ServicePlace":
        """`UsageRefusedError` if it is not a location in S3."""
        found = _LOCATION.fullmatch(uri)
        if found is None:
            raise UsageRefusedError(f"--upload-to: {uri} is not a location in S3", remedy=["Write s3://bucket/prefix."])
        return cls(bucket=found[1], key=(found[2] or "").strip("/"))

    def below(self, name: str) -> str:
        """The key of a name below it."""
        return f"{self.key}/{name}" if self.key else name

    @property
    def uri(self) -> str:
        """Without a slash at its end."""
        return f"s3://{self.bucket}/{self.key}".rstrip("/")


def requests(
    cases: Iterable[ConformanceCase], *, image: str, role: str, place: ServicePlace, instance_type: str
) -> dict[ConformanceCase, dict[str, Any]]:
    """The requests to the service, with new names."""
    now = datetime.now(UTC)
    made = {}
    for case in cases:
        name = default_name(f"conformance-{case}", now)
        made[case] = request(case, name=name, image=image, role=role, prefix=place.uri)
        made[case]["ResourceConfig"]["InstanceType"] = instance_type
    return made


def run_on_service(
    asked: Mapping[ConformanceCase, Mapping[str, Any]],
    service: Service,
    *,
    place: ServicePlace,
    folder: str,
    said: Said,
) -> list[str]:
    """Run the jobs to their ends; returns the folders with what they left. Jobs are stopped if this is broken off."""
    for name, content in DATA.items():
        service.call("s3", "PutObject", Bucket=place.bucket, Key=place.below(f"data/{name}"), Body=content)
    said(f"uploaded {len(DATA)} objects to {place.uri}/data")
    running: dict[ConformanceCase, str] = {}
    answers: dict[ConformanceCase, Mapping[str, Any]] = {}
    try:
        for case, each in asked.items():
            service.call("sagemaker", "CreateTrainingJob", **each)
            running[case] = str(each["TrainingJobName"])
            said(f"{case}: the job {running[case]} is submitted")
        _see_through(running, answers, service, said)
    except BaseException:
        for name in running.values():
            with suppress(SmlocalError):
                service.stop(name)
        raise
    folders = []
    for case, answer in answers.items():
        folders.append(os.path.join(folder, str(answer["TrainingJobName"])))
        for text in _save(service, place, answer, folders[-1]):
            said(f"{case}: {text}")
    return folders


def _see_through(
    running: dict[ConformanceCase, str], answers: dict[ConformanceCase, Mapping[str, Any]], service: Service, said: Said
) -> None:
    shown: dict[ConformanceCase, str] = {}
    trains_since = lost_since = 0.0
    stopped = False
    while running:
        for case, name in [*running.items()]:
            try:
                answer = service.describe(name)
                lost_since = 0.0
            except ServiceUnreachableError:
                lost_since = lost_since or time.monotonic()
                if time.monotonic() - lost_since > _LOST_SECONDS:
                    raise
                continue
            phase = str(answer["SecondaryStatus"])
            if shown.get(case) != phase:
                shown[case] = phase
                said(f"{case}: {phase}")
            if case is ConformanceCase.STOPPED and phase == "Training" and not stopped:
                trains_since = trains_since or time.monotonic()
                late = time.monotonic() - trains_since > _LATEST_STOP_SECONDS
                if late or READY in _log(service, name):
                    stopped = True
                    service.stop(name)
            if answer["TrainingJobStatus"] in _ENDED:
                answers[case] = answer
                del running[case]
        time.sleep(_PAUSE_SECONDS)


def _log(service: Service, job: str) -> str:
    """The output of the hosts; nothing if it is missing, or may not be read."""
    lines: list[str] = []
    with suppress(ServiceForbiddenError, ServiceRefusedError):
        for page in service.log_pages("FilterLogEvents", job):
            lines += (event["message"] for event in page.get("events", ()))
    return "\n".join(lines)


def _save(service: Service, place: ServicePlace, answer: Mapping[str, Any], folder: str) -> Iterator[str]:
    """Write what the job has left; yields what there is not. The log has the document, too."""
    from botocore.exceptions import BotoCoreError

    job = str(answer["TrainingJobName"])
    write_file(folder, "describe.json", json.dumps(answer, default=str, indent=1).encode())
    write_file(folder, "log.txt", _log(service, job).encode(errors="replace"))
    for archive in _ARCHIVES:
        key = place.below(f"output/{job}/output/{archive}")
        try:
            found = service.call("s3", "GetObject", Bucket=place.bucket, Key=key)
            write_file(folder, archive, found["Body"].read())
        except (ServiceForbiddenError, ServiceRefusedError) as error:
            yield f"no {archive}: {error.sentence}"
        except BotoCoreError as error:
            yield f"{archive} could not be read: {error}"

"""Finds one of two jobs to compare: of this machine, of the service with its artifacts and usage, or in a document."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from math import ceil
from typing import Any

from smlocal.api.job_files import REPLICAS, compared_replica_job
from smlocal.api.job_names import resolve_job_name
from smlocal.api.recorded_job import own_answer
from smlocal.api.training_job import TrainingJob
from smlocal.errors import JobUnknownError, ServiceRefusedError, SmlocalError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.contract.documents.config_files import host_names
from smlocal.sagemaker.contract.instance_types import InstanceType, instance_type
from smlocal.service.compare.subject import (
    ARTIFACT_NAMES,
    Archive,
    File,
    JobToCompare,
    read_archive,
    read_stream,
    subject_of,
    subject_of_replicas,
)
from smlocal.service.described_job import check_shape, described_job, read_answer
from smlocal.service.job_end import seconds_since_epoch
from smlocal.service.job_kind import refuse_to_compare
from smlocal.service.service import Service
from smlocal.terms.listing import bucket_name, split_s3_uri

SERVICE = "service:"
DOCUMENTS = (".json", ".yaml", ".yml")
_KEYS = ("Model", "Output")


def find_subject(
    text: str, *, service: "Callable[[], Service]", download: bool, allow_local_paths: bool = False
) -> JobToCompare:
    """The job that `text` names: `service:NAME`, a path (with a `/`, or an ending of YAML or JSON), or a job here.

    `allow_local_paths`: read the artifacts of any document where it says that they are.
    """
    if text.startswith(SERVICE):
        return _on_service(text, service(), download=download)
    if "/" in text or text.endswith(DOCUMENTS):
        return _in_document(text, allow_local_paths=allow_local_paths)
    return _here(text)


def check_same_kind(a: JobToCompare, b: JobToCompare) -> None:
    """Refuse two jobs that have no members in common."""
    if a.kind != b.kind:
        raise UsageRefusedError(
            f"{a.title} is a {a.kind} and {b.title} a {b.kind}: they have no members in common",
            remedy=["Compare two jobs of one kind."],
        )


def _here(text: str) -> JobToCompare:
    try:
        name = resolve_job_name(text)
    except JobUnknownError as error:
        remedy = (*error.remedy, f"A job of the service: {SERVICE}{text}   A saved description: ./{text}.json")
        raise JobUnknownError(error.sentence, details=error.details, remedy=remedy) from error
    answer = TrainingJob(name).describe()
    refuse_to_compare(answer, name)
    if REPLICAS.describes(answer):
        return _of_replicas(Document(answer, name=name, directory=os.getcwd()), title=name, origin="here")
    return _described(answer, title=name, origin="here", paths_known=True)


def _in_document(path: str, *, allow_local_paths: bool) -> JobToCompare:
    document = read_answer(path)
    if REPLICAS.describes(document.data):
        return _of_replicas(document, title=path, origin="a document")
    answer = document.data
    refuse_to_compare(answer, path)
    return _described(answer, title=path, origin="a document", paths_known=allow_local_paths)


def _of_replicas(document: Document, *, title: str, origin: str) -> JobToCompare:
    image = (document.data.get("Local") or {}).get("Image")
    return subject_of_replicas(compared_replica_job(document), title=title, origin=origin, image_id=image)


def _on_service(text: str, service: "Service", *, download: bool) -> JobToCompare:
    answer = service.describe(text.removeprefix(SERVICE))
    archives: Mapping[str, Archive | None] = {}
    why = f"those of {text} are in S3: --download reads them"
    if download:
        try:
            archives, why = archives_in_s3(service, answer), ""
        except SmlocalError as error:
            why = f"those of {text} cannot be read: {error.sentence}"
    found = _described(answer, title=text, origin=f"the service in {service.region}", archives=archives, unknown=why)

    try:
        return replace(found, usage=service_usage(service, answer))
    except SmlocalError as error:
        return replace(found, no_usage=f"that of {text} cannot be read: {error.sentence}")


def _described(
    answer: Mapping[str, Any],
    *,
    title: str,
    origin: str,
    archives: Mapping[str, Archive | None] | None = None,
    unknown: str = "",
    paths_known: bool = False,
) -> JobToCompare:
    job = described_job(answer, name=title)
    known = job.answer or {}
    check_shape(known, name=title)
    if archives is None:
        archives, unknown = _of_this_machine(known, title, paths_known=paths_known)
    return subject_of(known, job.request, title=title, origin=origin, archives=archives, no_archives=unknown)


def _of_this_machine(
    answer: Mapping[str, Any], title: str, *, paths_known: bool
) -> tuple[Mapping[str, Archive | None], str]:
    """The artifacts that a `Local` block names, or why they are not known.

    Without `paths_known`, only the paths of a job of this machine are read, because a document can name any.
    """
    artifacts = (answer.get("Local") or {}).get("Artifacts")
    if artifacts is None:
        return {}, f"{title} does not say where its artifacts are on this machine"
    if not paths_known and not _are_own(answer, artifacts):
        return {}, f"{title} names paths that are not those of a job here: --allow-local-paths reads them"
    paths = dict(zip(ARTIFACT_NAMES, (artifacts.get(key) for key in _KEYS), strict=True))
    return {name: None if path is None else read_archive(path) for name, path in paths.items()}, ""


def _are_own(answer: Mapping[str, Any], artifacts: Any) -> bool:
    """Whether the described job is one of this machine, with these artifacts."""
    if not any(artifacts.get(key) for key in _KEYS):
        return True

    own = own_answer(str(answer.get("TrainingJobName") or ""), arn=str(answer.get("TrainingJobArn") or ""))
    known = ((own or {}).get("Local") or {}).get("Artifacts") or {}
    return all(artifacts.get(key) in (None, known.get(key)) for key in _KEYS)


_ABSENT = {"NoSuchKey", "404", "NotFound"}


def archives_in_s3(service: "Service", answer: Mapping[str, Any]) -> dict[str, Archive | None]:
    """`model.tar.gz` and `output.tar.gz`, or the files in the folders in place of them."""
    model = str((answer.get("ModelArtifacts") or {}).get("S3ModelArtifacts") or "")
    if not model.startswith("s3://"):
        return dict.fromkeys(ARTIFACT_NAMES)
    if not model.endswith(".tar.gz"):
        folder = model.rstrip("/").rpartition("/")[0]
        return {name: _folder(service, f"{folder}/{name.partition('.')[0]}/") for name in ARTIFACT_NAMES}
    folder = model.rpartition("/")[0]
    return {name: _archive(service, f"{folder}/{name}") for name in ARTIFACT_NAMES}


def _archive(service: "Service", uri: str) -> Archive | None:
    bucket, key = _place(uri)
    try:
        answer = service.call("s3", "GetObject", Bucket=bucket, Key=key)
    except ServiceRefusedError as error:
        if error.code in _ABSENT:
            return None
        raise
    from botocore.exceptions import BotoCoreError

    size = answer["ContentLength"]
    try:
        with answer["Body"] as body:
            return read_stream(body, place=uri, size=size)
    except BotoCoreError as error:  # the connection broke
        return Archive(place=uri, size=size, files=None, trouble=f"it cannot be read: {error}")


def _folder(service: "Service", uri: str) -> Archive | None:
    """Names and sizes: the digests of S3 are of another kind."""
    bucket, prefix = _place(uri)
    files = {
        each["Key"][len(prefix) :]: File(size=each["Size"], digest=None)
        for page in service.pages("s3", "ListObjectsV2", Bucket=bucket, Prefix=prefix)
        for each in page.get("Contents") or ()
    }
    return Archive(place=uri, size=None, files=files) if files else None


def _place(uri: str) -> tuple[str, str]:
    bucket_uri, key = split_s3_uri(uri)
    return bucket_name(bucket_uri), key


NAMESPACE = "/aws/sagemaker/TrainingJobs"
_METRICS = ("CPUUtilization", "MemoryUtilization", "GPUUtilization", "GPUMemoryUtilization")
_MOST_HOSTS = 100
"""A call takes 500 metrics."""
_HOUR = 3600
"""Metrics that are older than two months are kept for each hour only."""


def service_usage(service: "Service", answer: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """By host, as in the `Usage` of a job of this machine; empty if CloudWatch has nothing, as for short jobs."""
    resources = answer.get("ResourceConfig") or {}
    start, end = (seconds_since_epoch(answer.get(name)) for name in ("TrainingStartTime", "TrainingEndTime"))
    if start is None or end is None or not resources.get("InstanceType"):
        return {}
    try:
        kind = instance_type(resources["InstanceType"])
    except LookupError:  # a type that is newer than our table, or none of the service's
        return {}
    hosts = host_names(min(_MOST_HOSTS, int(resources.get("InstanceCount") or 1)))
    period = _HOUR * max(1, ceil((end - start) / _HOUR))
    asked = [_query(str(answer.get("TrainingJobName")), host, name, period) for host in hosts for name in _METRICS]
    pages = service.pages(
        "cloudwatch",
        "GetMetricData",
        MetricDataQueries=asked,
        StartTime=datetime.fromtimestamp(start - start % _HOUR, UTC),
        EndTime=datetime.fromtimestamp(end + _HOUR, UTC),
    )
    highest: dict[str, float] = {}
    for page in pages:
        for result in page["MetricDataResults"]:
            highest[result["Id"]] = max([highest.get(result["Id"], 0.0), *result["Values"]])
    found = {
        host: dict(_figures({name: highest.get(_id(host, name), 0.0) for name in _METRICS}, kind)) for host in hosts
    }
    return {host: figures for host, figures in found.items() if figures}


def _query(job: str, host: str, name: str, period: int) -> dict[str, Any]:
    metric = {"Namespace": NAMESPACE, "MetricName": name, "Dimensions": [{"Name": "Host", "Value": f"{job}/{host}"}]}
    return {"Id": _id(host, name), "MetricStat": {"Metric": metric, "Period": period, "Stat": "Maximum"}}


def _id(host: str, name: str) -> str:
    return f"m_{host.replace('-', '_')}_{name}"


def _figures(percent: Mapping[str, float], kind: InstanceType) -> Iterator[tuple[str, float]]:
    """CPUUtilization is 100 for each processor; the others are shares of the instance."""
    if percent["MemoryUtilization"]:
        yield "MemoryPeakMiB", round(percent["MemoryUtilization"] * kind.memory_mib / 100)
    if percent["CPUUtilization"]:
        yield "CpuPeak", round(percent["CPUUtilization"] / 100, 2)
    if percent["GPUUtilization"]:
        yield "GpuPeakPercent", round(percent["GPUUtilization"])
    if percent["GPUMemoryUtilization"]:
        yield "GpuMemoryPeakMiB", round(percent["GPUMemoryUtilization"] * kind.gpu_memory_mib / 100)

"""What the hosts of a job of the service used, from CloudWatch."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING, Any

from smlocal.platforms.sagemaker.contract.documents.hosts import host_names
from smlocal.platforms.sagemaker.contract.instance_types import InstanceType, instance_type
from smlocal.remote.job_end import seconds_since_epoch

if TYPE_CHECKING:
    from smlocal.remote.service import Service

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

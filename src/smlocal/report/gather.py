"""Find out everything that there is to show of a job; what is not there, as of older jobs, is left out."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from smlocal.job.finish.describe import PLAN, REQUEST, describe_job
from smlocal.job.logs.job_logs import host_logs
from smlocal.job.metrics.job_metrics import job_metrics
from smlocal.job.usage.block import Measured, usage_block
from smlocal.job.usage.series import Series, read_series
from smlocal.report.contents import Contents, contents
from smlocal.report.facts import Facts
from smlocal.report.log_tail import log_tail
from smlocal.report.metric_curves import metric_curves
from smlocal.report.request import shown_request
from smlocal.report.usage_curves import HostCurves, host_curves
from smlocal.store.jobs import Store


def gather(store: Store, name: str, made: float) -> Facts:
    """Look at a job, finished or running. Unknown: an error."""
    answer = describe_job(store, name)
    plan: Mapping[str, Any] = store.document(name, PLAN)
    local = answer["Local"]
    began = _began(answer)
    usage = local.get("Usage") or _usage_so_far(store, name, plan)
    tails = [log_tail(host, path) for host, path in host_logs(store, name)]
    return Facts(
        made=made,
        answer=answer,
        request=shown_request(store.document(name, REQUEST)),
        notes=tuple(local.get("Notes", plan.get("Notes", ()))),
        logs=tuple(tail for tail in tails if tail is not None),
        metrics=metric_curves(job_metrics(store, name), began),
        usage=tuple(_host(figures, began) for figures in usage.get("Hosts", ())),
        advice=(*(s for each in usage.get("Advice", ()) for s in each["Sentences"]), *usage.get("Notes", ())),
        artifacts=tuple(_artifacts(local.get("Artifacts") or {})),
    )


def _began(answer: Mapping[str, Any]) -> float:
    starts = [t["StartTime"] for t in answer["SecondaryStatusTransitions"] if t["Status"] == "Training"]
    return float(min(starts, default=answer["CreationTime"]))


def _usage_so_far(store: Store, name: str, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of a job that has no result yet."""
    if store.get(name).status.terminal:
        return {}
    hosts = [
        Measured(name=host["Name"], instance_type=host["InstanceType"])
        for host in plan["Hosts"]
        if host.get("InstanceType")
    ]
    return usage_block(store.directory(name), hosts, machine_cpus=os.cpu_count() or 1) or {}


def _host(figures: Mapping[str, Any], began: float) -> HostCurves:
    series = Series()
    with suppress(OSError):
        series = read_series(figures["Series"])
    return host_curves(figures, series, began)


def _artifacts(artifacts: Mapping[str, Any]) -> list[Contents]:
    return [
        contents(artifacts[kind], artifacts.get(f"{kind}Bytes", 0))
        for kind in ("Model", "Output")
        if artifacts.get(kind)
    ]

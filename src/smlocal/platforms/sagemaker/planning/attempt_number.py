"""Another attempt of a plan."""

import json
from dataclasses import replace

from smlocal.contract.compact_json import compact
from smlocal.planning.model import JobPlan
from smlocal.platforms.sagemaker.contract import paths
from smlocal.platforms.sagemaker.contract.documents.channel_manifest import manifest


def for_attempt(plan: JobPlan, number: int) -> JobPlan:
    """The same plan with the attempt's number in init-config.json, and the checkpoints that there are now."""
    checkpoints = plan.checkpoints
    restored = {} if checkpoints is None else {paths.CHECKPOINTS_MANIFEST: manifest(checkpoints.listing)}
    path = f"{paths.CONFIG}/init-config.json"
    hosts = []
    for host in plan.hosts:
        document = json.loads(host.files[path])
        document["jobRunInfo"]["jobRunNumber"] = number
        hosts.append(replace(host, files={**host.files, **restored, path: compact(document)}))
    return replace(plan, hosts=tuple(hosts))

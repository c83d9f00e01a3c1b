"""What another attempt at a job does otherwise than the first."""

import json
from dataclasses import replace

from smlocal.contract import paths
from smlocal.contract.documents.config_files import compact
from smlocal.planning.model import JobPlan


def for_attempt(plan: JobPlan, number: int) -> JobPlan:
    """The plan of a later attempt: all is as before but the run counter of the platform's own file."""
    path = f"{paths.CONFIG}/init-config.json"
    hosts = []
    for host in plan.hosts:
        document = json.loads(host.files[path])
        document["jobRunInfo"]["jobRunNumber"] = number
        hosts.append(replace(host, files={**host.files, path: compact(document)}))
    return replace(plan, hosts=tuple(hosts))

"""Compare `Local.Placement` with the hosts of a request."""

from collections.abc import Mapping
from typing import Any

from smlocal.contract.validation.check import validate
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.local_block import placement_violations
from smlocal.jobfile.settings import LocalSettings
from smlocal.platforms.sagemaker.contract.documents.hosts import host_names
from smlocal.platforms.sagemaker.contract.model.request import ResourceConfig
from smlocal.platforms.sagemaker.planning.hosts import MAX_PLANNED_HOSTS, host_count


def broken_placement_rules(local: LocalSettings, request: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with a placement. Nothing if the hosts themselves are wrong."""
    resources, _ = validate(ResourceConfig, request.get("ResourceConfig"), strict=False)
    if resources is None or host_count(resources) > MAX_PLANNED_HOSTS:
        return []
    return placement_violations(local, host_names(host_count(resources)))

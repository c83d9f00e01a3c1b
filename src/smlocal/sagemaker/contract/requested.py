"""What a request asks for: its hosts, the metrics in its logs, and the warm pool that it matches."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from smlocal.sagemaker.contract.documents.config_files import heterogeneous, homogeneous
from smlocal.sagemaker.contract.model.request import ResourceConfig
from smlocal.terms.hosts import Host
from smlocal.terms.json_size import compact
from smlocal.terms.metrics import MetricPattern
from smlocal.terms.statuses import JobStatus, PoolState

if TYPE_CHECKING:
    from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest

MAX_PLANNED_HOSTS = 1000
"""A plan for more would be too long to read: each host is told of all others."""


NO_INSTANCES = "CapacityError"
"""The fault of `Local.Faults` that leaves no instances, of one type or of any."""


def selected_preference(resources: Mapping[str, Any], faults: Sequence[Mapping[str, Any]]) -> tuple[str, int] | None:
    """Type and count of the first of `InstancePreferences` that the faults leave; None if there is none.

    Both are given as in their documents.
    """
    struck = {fault.get("Instance") for fault in faults if fault.get("Kind") == NO_INSTANCES}
    for each in resources.get("InstancePreferences") or ():
        if not struck & {each["InstanceType"], None}:
            return each["InstanceType"], each.get("InstanceCount") or resources.get("InstanceCount") or 1
    return None


def with_selected(resources: ResourceConfig, faults: Sequence[Mapping[str, Any]]) -> ResourceConfig:
    """The resources with one type: that of a preference, the first one if none is left."""
    if not resources.InstancePreferences:
        return resources
    plain = resources.plain()
    kind, count = selected_preference(plain, faults) or selected_preference(plain, ()) or ("", 1)
    return ResourceConfig(**{**vars(resources), "InstanceType": kind, "InstanceCount": count})


def host_count(resources: ResourceConfig) -> int:
    """The number of hosts."""
    if resources.InstanceGroups:
        return sum(group.InstanceCount for group in resources.InstanceGroups)
    return resources.InstanceCount or 1


def hosts_of(resources: ResourceConfig) -> tuple[Host, ...]:
    """All hosts."""
    if resources.InstanceGroups:
        groups = resources.InstanceGroups
        return heterogeneous([(g.InstanceGroupName, g.InstanceType, g.InstanceCount) for g in groups])
    return homogeneous(resources.InstanceCount or 1, resources.InstanceType or "")


OBJECTIVE_KEY: Final = "_tuning_objective_metric"
"""The hyperparameter that tells a training job the objective metric of the tuning job that made it."""


def definitions_of(request: Mapping[str, Any]) -> tuple[MetricPattern, ...]:
    """The definitions of a valid request, in its order."""
    given = (request.get("AlgorithmSpecification") or {}).get("MetricDefinitions") or ()
    return tuple(MetricPattern(name=each["Name"], regex=each["Regex"]) for each in given)


RETAINED: Final = "Resource retained for reuse"
EXPIRED: Final = "Resource released due to keep alive period expiry"


def matching_settings(request: "CreateTrainingJobRequest", hosts: Sequence[Host]) -> str:
    """Everything that two jobs must have in common, as one text."""
    resources, chaining = request.ResourceConfig, request.SessionChainingConfig
    network = request.VpcConfig
    settings = {
        "RoleArn": request.RoleArn,
        "InstanceCount": len(hosts),
        "InstanceType": hosts[0].instance_type,
        "VolumeKmsKeyId": resources.VolumeKmsKeyId if resources is not None else None,
        "VolumeSizeInGB": resources.VolumeSizeInGB if resources is not None else None,
        "SecurityGroupIds": network.SecurityGroupIds if network is not None else None,
        "Subnets": network.Subnets if network is not None else None,
        "EnableInterContainerTrafficEncryption": request.EnableInterContainerTrafficEncryption is True,
        "EnableNetworkIsolation": request.EnableNetworkIsolation is True,
        "EnableSessionTagChaining": chaining is not None and chaining.EnableSessionTagChaining is True,
    }
    return compact(settings).decode()


def pool_member(state: PoolState) -> dict[str, Any]:
    """`WarmPoolStatus`."""
    return {
        "Status": state.status,
        **({} if state.retained is None else {"ResourceRetainedBillableTimeInSeconds": state.retained}),
        **({} if state.reused_by is None else {"ReusedByJob": state.reused_by}),
    }


def last_message(status: JobStatus, state: PoolState) -> str | None:
    """The message of the last phase; None for the usual one. Only those of completed jobs have been seen."""
    if status is not JobStatus.COMPLETED:
        return None
    if state.status == "Reused":
        return f"Resource reused by training job: {state.reused_by}"
    return RETAINED if state.status == "Available" else EXPIRED if state.expired else None

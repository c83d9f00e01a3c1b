"""Warm pools: the settings by which a job matches one, and the words of answers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from smlocal.terms.hosts import Host
from smlocal.terms.json_size import compact
from smlocal.terms.statuses import JobStatus
from smlocal.terms.warm_pools import PoolState

if TYPE_CHECKING:
    from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest

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

"""The environment variables that the service sets in a container, without those that toolkits add later."""

from collections.abc import Mapping

from smlocal.contract.gpus import VISIBLE_DEVICES
from smlocal.platforms.sagemaker.contract import paths
from smlocal.platforms.sagemaker.contract.documents.hosts import INTERFACE


def container_environment(
    requested: Mapping[str, str],
    *,
    job_name: str,
    job_arn: str,
    region: str,
    hides_gpus: bool = False,
    endpoints: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """All variables of one container. Those of the request override the others. `endpoints` is `Local.Endpoints`.

    `NVIDIA_VISIBLE_DEVICES` is what the image says; with GPUs the engine sets it. `hides_gpus`: it is the only thing
    that keeps GPUs out of this container.
    There is no `SM_*`: the service does not set it, so an image that relies on it must fail.
    """
    environment = {
        "TRAINING_JOB_NAME": job_name,
        "TRAINING_JOB_ARN": job_arn,
        "AWS_REGION": region,
        "DMLC_INTERFACE": INTERFACE,
        "SAGEMAKER_METRICS_DIRECTORY": paths.METRICS,
        "SAGEMAKER_MANAGED_WARMPOOL_CACHE_DIRECTORY": paths.WARM_POOL,
        **(endpoints or {}),
    }
    return {**environment, **requested, **({VISIBLE_DEVICES: "void"} if hides_gpus else {})}

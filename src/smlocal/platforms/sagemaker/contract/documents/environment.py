"""The environment variables that the service sets in a container, without those that toolkits add later."""

from collections.abc import Mapping

from smlocal.platforms.sagemaker.contract import paths
from smlocal.platforms.sagemaker.contract.documents.hosts import INTERFACE


def container_environment(
    requested: Mapping[str, str],
    *,
    job_name: str,
    job_arn: str,
    region: str,
    gpus: bool,
    endpoints: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """All variables of one container. Those of the request override the others. `endpoints` is `Local.Endpoints`.

    There is no `SM_*`: the service does not set it, so an image that relies on it must fail.
    """
    environment = {
        "TRAINING_JOB_NAME": job_name,
        "TRAINING_JOB_ARN": job_arn,
        "AWS_REGION": region,
        "DMLC_INTERFACE": INTERFACE,
        "SAGEMAKER_METRICS_DIRECTORY": paths.METRICS,
        **(endpoints or {}),
    }
    if not gpus:
        # With GPUs the engine sets it.
        environment["NVIDIA_VISIBLE_DEVICES"] = "void"
    return {**environment, **requested}

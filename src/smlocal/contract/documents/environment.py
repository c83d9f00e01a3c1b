"""What the service puts into a container's environment, and nothing that toolkits add later."""

from collections.abc import Mapping

from smlocal.contract import paths
from smlocal.contract.documents.hosts import INTERFACE


def container_environment(
    requested: Mapping[str, str],
    *,
    job_name: str,
    job_arn: str,
    region: str,
    gpus: bool,
    endpoints: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Every variable of one container; entries of the request stand last and so win. `endpoints` are `Local`'s.

    `SM_*` is not here: the service does not set it, and an image that relies on it must fail here too.
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
        # With GPUs the engine's device request sets it.
        environment["NVIDIA_VISIBLE_DEVICES"] = "void"
    return {**environment, **requested}

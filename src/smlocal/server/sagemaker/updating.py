"""UpdateTrainingJob."""

from typing import Any

from smlocal.job.documents import REQUEST
from smlocal.server.call import Call, validation_error
from smlocal.server.sagemaker.describing import called_job
from smlocal.server.serving import Serving

_RECORDED = ("ProfilerConfig", "ProfilerRuleConfigurations", "RemoteDebugConfig")


def update_training_job(serving: Serving, call: Call) -> dict[str, Any]:
    """Record what the service would change. Nothing of it reaches a running container: see docs/fidelity.md."""
    asked = call.parameters
    record = called_job(serving, call)
    if record.status.terminal:
        # Only the time that a warm pool is kept could still be changed, and there is none.
        raise validation_error(f"The request was rejected because the training job is in status {record.status}.")
    changes = {member: asked[member] for member in _RECORDED if member in asked}
    keep_alive = asked.get("ResourceConfig")

    def changed(request: dict[str, Any]) -> dict[str, Any]:
        resources = request.get("ResourceConfig")
        return {
            **request,
            **changes,
            **({"ResourceConfig": {**(resources or {}), **keep_alive}} if keep_alive is not None else {}),
        }

    serving.store.change_document(record.name, REQUEST, changed)
    return {"TrainingJobArn": record.arn}

"""SDK v2: two runs with a built-in rule that stops its job and tells two people, one of them with a flat loss."""

import json
import sys
import tarfile
from pathlib import Path

import sagemaker
from sagemaker.debugger import CollectionConfig, DebuggerHookConfig, Rule, rule_configs
from sagemaker.estimator import Estimator
from sagemaker.s3 import S3Downloader

image, script, name = sys.argv[1:]
session = sagemaker.Session()
code = session.upload_data(script, key_prefix="code")


def begin(kind: str) -> Estimator:
    actions = rule_configs.ActionList(
        rule_configs.StopTraining(), rule_configs.Email("me@example.com"), rule_configs.SMS("+15550100")
    )
    losses = CollectionConfig(name="losses", parameters={"save_interval": "50"})
    rule = Rule.sagemaker(
        rule_configs.loss_not_decreasing(),
        rule_parameters={"num_steps": "50"},
        collections_to_save=[losses],
        actions=actions,
    )
    estimator = Estimator(
        image_uri=image,
        role=sagemaker.get_execution_role(),
        instance_count=1,
        instance_type="ml.m5.large",
        sagemaker_session=session,
        container_entry_point=["python3", f"/opt/ml/input/data/code/{Path(script).name}", kind],
        debugger_hook_config=DebuggerHookConfig(collection_configs=[losses]),
        rules=[rule],
        disable_profiler=True,
    )
    estimator.fit({"code": code}, job_name=f"{name}-{kind}", wait=False)
    return estimator


def end(kind: str, estimator: Estimator) -> dict[str, object]:
    asked = {"TrainingJobName": f"{name}-{kind}"}
    session.sagemaker_client.get_waiter("training_job_completed_or_stopped").wait(**asked)  # the SDK's own takes
    job = session.sagemaker_client.describe_training_job(**asked)  # `Stopping` for an end
    (rule,) = estimator.latest_training_job.rule_job_summary()
    S3Downloader.download(estimator.model_data, kind, sagemaker_session=session)
    with tarfile.open(f"{kind}/model.tar.gz") as archive:
        steps = archive.extractfile("steps")
        assert steps is not None
        return {
            "status": job["TrainingJobStatus"],
            "steps": int(steps.read()),
            "rule": rule["RuleEvaluationStatus"],
            "details": rule.get("StatusDetails", ""),
        }


estimators = {kind: begin(kind) for kind in ("flat", "healthy")}
print(json.dumps({kind: end(kind, estimator) for kind, estimator in estimators.items()}))

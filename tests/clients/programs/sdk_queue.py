"""A queue of AWS Batch by the SDKs: jobs submitted, one waited for and attached to, one terminated, all listed."""

import json
import sys
from typing import Any

sdk, image, name = sys.argv[1:]
script = "cat /opt/ml/input/data/train/rows.csv; echo weights > /opt/ml/model/weights"
endless = "trap 'exit 0' TERM; sleep 1000 & wait"

if sdk == "sdk-2":
    import sagemaker
    from sagemaker.aws_batch.training_queue import TrainingQueue
    from sagemaker.estimator import Estimator

    session = sagemaker.Session()
    rows = session.upload_string_as_file_body("1,2", session.default_bucket(), "input/rows.csv")
    given: Any = {"train": rows.rpartition("/")[0]}

    def job(program: str) -> Any:
        return Estimator(
            image_uri=image,
            role=sagemaker.get_execution_role(),
            instance_count=1,
            instance_type="ml.m5.large",
            environment={"SCRIPT": program},
        )

    def attached(queued: Any) -> Any:
        return queued.get_estimator().latest_training_job.name

else:
    from sagemaker.core.helper.session_helper import Session
    from sagemaker.train import ModelTrainer
    from sagemaker.train.aws_batch.training_queue import TrainingQueue
    from sagemaker.train.configs import Compute, InputData

    session = Session()
    rows = session.upload_string_as_file_body("1,2", session.default_bucket(), "input/rows.csv")
    given = [InputData(channel_name="train", data_source=rows.rpartition("/")[0])]

    def job(program: str) -> Any:
        return ModelTrainer(
            training_image=image,
            compute=Compute(instance_type="ml.m5.large", instance_count=1),
            environment={"SCRIPT": program},
        )

    def attached(queued: Any) -> Any:
        return queued.get_model_trainer()._latest_training_job.training_job_name


queue = TrainingQueue("any-queue")
first = queue.submit(job(script), given, f"{name}-1", priority=1, tags={"team": "a"})
(second,) = queue.map(job(endless), [given], [f"{name}-2"])
result = first.result(timeout=500)
second.terminate("no longer wanted")
ended = second.wait(timeout=500)
trained = result["latestAttempt"]["serviceResourceId"]["value"].rpartition("/")[2]
print(
    json.dumps(
        {
            "result": [result["status"], result["statusReason"], len(result["attempts"]), result["tags"]],
            "terminated": [ended["status"], ended["statusReason"], ended["isTerminated"]],
            "found": [each.job_name for each in queue.list_jobs(f"{name}*")],
            "succeeded": [each.job_name for each in queue.list_jobs(status="SUCCEEDED")],
            "by_name": queue.get_job(f"{name}-1").job_arn == first.job_arn,
            "attached": attached(first).lower() == trained.lower(),
        }
    )
)

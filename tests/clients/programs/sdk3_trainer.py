"""SDK v3: a trainer with the user's own code and a local channel; the resources of its job and of a stopped one."""

import json
import logging
import sys
from pathlib import Path

from sagemaker.core.resources import TrainingJob
from sagemaker.core.shapes import AlgorithmSpecification, OutputDataConfig, ResourceConfig, StoppingCondition
from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute, InputData, SourceCode

toolkit_image, image, name = sys.argv[1:]
logging.basicConfig(level=logging.INFO, stream=sys.stdout)

Path("source").mkdir()
Path("source/train.py").write_text(
    "from pathlib import Path\nprint(Path('/opt/ml/input/data/train/rows.csv').read_text())\n"
)
Path("data").mkdir()
Path("data/rows.csv").write_text("rows: 1,2")
trainer = ModelTrainer(
    training_image=toolkit_image,
    source_code=SourceCode(source_dir="source", entry_script="train.py"),
    compute=Compute(instance_type="ml.m5.large", instance_count=1),
    base_job_name=name,
    hyperparameters={"epochs": 3},
)
trainer.train(input_data_config=[InputData(channel_name="train", data_source="data")], wait=True, logs=True)
asked = trainer._create_training_job_args(
    input_data_config=[InputData(channel_name="train", data_source="data")], boto3=True
)
Path("trainer.json").write_text(json.dumps(asked))
(job,) = TrainingJob.get_all(name_contains=name)
job = TrainingJob.get(job.training_job_name)

long = TrainingJob.create(
    training_job_name=f"{name}-stopped",
    role_arn=job.role_arn,
    algorithm_specification=AlgorithmSpecification(training_image=image, training_input_mode="File"),
    environment={"SCRIPT": "trap 'exit 0' TERM; sleep 1000 & wait"},
    output_data_config=OutputDataConfig(s3_output_path="s3://artifacts/models"),
    resource_config=ResourceConfig(instance_type="ml.m5.large", instance_count=1, volume_size_in_gb=1),
    stopping_condition=StoppingCondition(max_runtime_in_seconds=1800),
)
long.stop()
long.wait(poll=1)
print(
    json.dumps(
        {
            "status": job.training_job_status,
            "channels": sorted(each.channel_name for each in job.input_data_config),
            "stopped": long.training_job_status,
        }
    )
)

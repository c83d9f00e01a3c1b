"""SDK v3 in its local mode, with local data."""

import sys

from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute, InputData
from sagemaker.train.model_trainer import Mode

trainer = ModelTrainer(
    training_image=sys.argv[1],
    training_mode=Mode.LOCAL_CONTAINER,
    compute=Compute(instance_type="local_cpu", instance_count=1),
    base_job_name=sys.argv[2],
    environment={"SCRIPT": "cat /opt/ml/input/data/train/rows.csv; echo weights > /opt/ml/model/weights"},
)
trainer.train(input_data_config=[InputData(channel_name="train", data_source="data")])

"""SDK v3: a tuner that tunes and waits, and its best training job."""

import json
import sys

from sagemaker.core.parameter import CategoricalParameter, ContinuousParameter, IntegerParameter
from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute
from sagemaker.train.tuner import HyperparameterTuner

image, name = sys.argv[1:]
script = 'n=$(sed \'s/.*"n": *"\\([0-9]*\\)".*/\\1/\' /opt/ml/input/config/hyperparameters.json); echo "loss=$n;"'
trainer = ModelTrainer(
    training_image=image,
    compute=Compute(instance_type="ml.m5.large", instance_count=1),
    base_job_name=name,
    hyperparameters={"epochs": 3},
    environment={"SCRIPT": script},
)
tuner = HyperparameterTuner(
    trainer,
    "loss",
    {
        "n": IntegerParameter(1, 9),
        "lr": ContinuousParameter(0.001, 0.1, scaling_type="Logarithmic"),
        "c": CategoricalParameter(["one", "two"]),
    },
    metric_definitions=[{"Name": "loss", "Regex": "loss=([0-9.]+);"}],
    strategy="Random",
    max_jobs=3,
    max_parallel_jobs=3,
)
tuner.tune(job_name=name, wait=True)
print(json.dumps({"status": tuner.describe().hyper_parameter_tuning_job_status, "best": tuner.best_training_job()}))

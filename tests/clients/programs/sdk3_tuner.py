"""SDK v3: a tuner that tunes and waits, and its best training job, deployed by a ModelBuilder and asked."""

import json
import logging
import sys

from sagemaker.core.helper.session_helper import Session
from sagemaker.core.parameter import CategoricalParameter, ContinuousParameter, IntegerParameter
from sagemaker.core.resources import TrainingJob
from sagemaker.serve.model_builder import ModelBuilder
from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute
from sagemaker.train.tuner import HyperparameterTuner

image, name = sys.argv[1:]
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
trainer = ModelTrainer(
    training_image=image,
    compute=Compute(instance_type="ml.m5.large", instance_count=1),
    base_job_name=name,
    hyperparameters={"epochs": 3},
)
tuner = HyperparameterTuner(
    trainer,
    "factor",
    {
        "factor": IntegerParameter(1, 9),
        "lr": ContinuousParameter(0.001, 0.1, scaling_type="Logarithmic"),
        "c": CategoricalParameter(["one", "two"]),
    },
    metric_definitions=[{"Name": "factor", "Regex": "factor=([0-9.]+);"}],
    strategy="Random",
    max_jobs=3,
    max_parallel_jobs=3,
)
tuner.tune(job_name=name, wait=True)
best = TrainingJob.get(tuner.best_training_job())
builder = ModelBuilder(  # this version takes each TrainingJob given as `model` for one that has customized a model
    s3_model_data_url=best.model_artifacts.s3_model_artifacts,
    image_uri=best.algorithm_specification.training_image,
    role_arn=best.role_arn,
    sagemaker_session=Session(),
    instance_type="ml.m5.large",
)
builder.build(model_name=name)
endpoint = builder.deploy(endpoint_name=name, initial_instance_count=1, instance_type="ml.m5.large")
answer = endpoint.invoke(body=b"1,2", content_type="text/csv").body.read().decode()
endpoint.delete()
endpoint.wait_for_delete(poll=1)
print()  # its panel does not end the line
print(
    json.dumps(
        {
            "status": tuner.describe().hyper_parameter_tuning_job_status,
            "best": best.training_job_name,
            "factor": best.hyper_parameters["factor"],
            "answer": answer,
        }
    )
)

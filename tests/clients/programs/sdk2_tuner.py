"""SDK v2: a tuner that fits and waits, its best training job, its table of results, and attached to again."""

import json
import sys

import sagemaker
from sagemaker.estimator import Estimator
from sagemaker.tuner import CategoricalParameter, ContinuousParameter, HyperparameterTuner, IntegerParameter

image, name = sys.argv[1:]
session = sagemaker.Session()
script = 'n=$(sed \'s/.*"n": *"\\([0-9]*\\)".*/\\1/\' /opt/ml/input/config/hyperparameters.json); echo "loss=$n;"'
estimator = Estimator(
    image_uri=image,
    role=sagemaker.get_execution_role(),
    instance_count=1,
    instance_type="ml.m5.large",
    sagemaker_session=session,
    hyperparameters={"epochs": 3},
    environment={"SCRIPT": script},
)
tuner = HyperparameterTuner(
    estimator,
    "loss",
    {
        "n": IntegerParameter(1, 9),
        "lr": ContinuousParameter(0.001, 0.1, scaling_type="Logarithmic"),
        "c": CategoricalParameter(["one"]),
    },
    metric_definitions=[{"Name": "loss", "Regex": "loss=([0-9.]+);"}],
    strategy="Random",
    max_jobs=4,
    max_parallel_jobs=2,
)
tuner.fit(job_name=name, wait=True)
table = tuner.analytics().dataframe()
best = tuner.best_training_job()
attached = HyperparameterTuner.attach(name, sagemaker_session=session)
print(
    json.dumps(
        {
            "rows": len(table),
            "columns": sorted(table.columns),
            "values": list(table["FinalObjectiveValue"]),
            "best": best,
            "best_value": float(table[table["TrainingJobName"] == best]["FinalObjectiveValue"].iloc[0]),
            "hyperparameters": tuner.best_estimator().hyperparameters(),
            "status": tuner.describe()["HyperParameterTuningJobStatus"],
            "attached": attached.best_training_job(),
        }
    )
)

"""SDK v2: a tuner that fits and waits, its results, attached to again, and the best training job deployed and asked."""

import json
import sys

import sagemaker
from sagemaker.deserializers import CSVDeserializer
from sagemaker.estimator import Estimator
from sagemaker.serializers import CSVSerializer
from sagemaker.tuner import CategoricalParameter, ContinuousParameter, HyperparameterTuner, IntegerParameter

image, name = sys.argv[1:]
session = sagemaker.Session()
estimator = Estimator(
    image_uri=image,
    role=sagemaker.get_execution_role(),
    instance_count=1,
    instance_type="ml.m5.large",
    sagemaker_session=session,
    hyperparameters={"epochs": 3},
)
tuner = HyperparameterTuner(
    estimator,
    "factor",
    {
        "factor": IntegerParameter(1, 9),
        "lr": ContinuousParameter(0.001, 0.1, scaling_type="Logarithmic"),
        "c": CategoricalParameter(["one"]),
    },
    metric_definitions=[{"Name": "factor", "Regex": "factor=([0-9.]+);"}],
    strategy="Random",
    max_jobs=4,
    max_parallel_jobs=2,
)
tuner.fit(job_name=name, wait=True)
table = tuner.analytics().dataframe()
best = tuner.best_training_job()
attached = HyperparameterTuner.attach(name, sagemaker_session=session)
of_all = attached.deploy(1, "ml.m5.large", endpoint_name=f"{name}-deployed", serializer=CSVSerializer())
of_best = tuner.best_estimator().deploy(
    1,
    "ml.m5.large",
    endpoint_name=f"{name}-estimator",
    model_name=f"{name}-estimator",
    serializer=CSVSerializer(),
    deserializer=CSVDeserializer(),
)
answers = [of_all.predict([1, 2]).decode(), of_best.predict([1, 2])]
for each in (of_all, of_best):
    each.delete_model()
    each.delete_endpoint()
    session.sagemaker_client.get_waiter("endpoint_deleted").wait(EndpointName=each.endpoint_name)
print()  # the SDK has written dots and marks
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
            "answers": answers,
        }
    )
)

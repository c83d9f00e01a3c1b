"""SDK v2: two estimators tuned together, attached to again, and the best of both deployed and asked."""

import json
import sys

import sagemaker
from sagemaker.estimator import Estimator
from sagemaker.serializers import CSVSerializer
from sagemaker.tuner import CategoricalParameter, HyperparameterTuner, IntegerParameter

image, other, name = sys.argv[1:]
session = sagemaker.Session()
shared = {
    "role": sagemaker.get_execution_role(),
    "instance_count": 1,
    "instance_type": "ml.m5.large",
    "sagemaker_session": session,
}
tuner = HyperparameterTuner.create(
    estimator_dict={
        "numbers": Estimator(image_uri=image, **shared),
        "words": Estimator(image_uri=other, environment={"SCRIPT": "echo 'words: 0.5'"}, **shared),
    },
    objective_metric_name_dict={"numbers": "factor", "words": "words"},
    hyperparameter_ranges_dict={
        "numbers": {"factor": IntegerParameter(2, 9)},
        "words": {"word": CategoricalParameter(["one", "two"])},
    },
    metric_definitions_dict={
        "numbers": [{"Name": "factor", "Regex": "factor=([0-9.]+);"}],
        "words": [{"Name": "words", "Regex": "words: ([0-9.]+)"}],
    },
    strategy="Random",
    max_jobs=4,
    max_parallel_jobs=4,
)
tuner.fit(inputs={}, job_name=name, include_cls_metadata={}, wait=True)  # the SDK refuses its own default
table = tuner.analytics().dataframe()
attached = HyperparameterTuner.attach(name, sagemaker_session=session)
best = attached.best_estimator()
predictor = attached.deploy(1, "ml.m5.large", endpoint_name=f"{name}-best", serializer=CSVSerializer())
answer = predictor.predict([1, 2]).decode()
predictor.delete_model()
predictor.delete_endpoint()
session.sagemaker_client.get_waiter("endpoint_deleted").wait(EndpointName=predictor.endpoint_name)
print()  # the SDK has written dots and marks
print(
    json.dumps(
        {
            "definitions": sorted(table["TrainingJobDefinitionName"]),
            "value": float(table["FinalObjectiveValue"].max()),
            "image": best.image_uri,
            "answer": answer,
        }
    )
)

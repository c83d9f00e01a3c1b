"""SDK v2: an estimator fitted and deployed, asked with serializers, updated; a model of one's own; all deleted."""

import io
import json
import sys
import tarfile
from pathlib import Path

import numpy as np
import sagemaker
from sagemaker.deserializers import JSONDeserializer
from sagemaker.estimator import Estimator
from sagemaker.model import Model
from sagemaker.predictor import Predictor
from sagemaker.s3 import S3Uploader
from sagemaker.serializers import CSVSerializer, JSONSerializer, NumpySerializer

image, name = sys.argv[1:]
session = sagemaker.Session()
role = sagemaker.get_execution_role()
instances = {"initial_instance_count": 1, "instance_type": "ml.m5.large"}

estimator = Estimator(
    image_uri=image,
    role=role,
    instance_count=1,
    instance_type="ml.m5.large",
    sagemaker_session=session,
    container_entry_point=["sh", "-c", "echo trained > /opt/ml/model/weights.txt"],
)
estimator.fit(job_name=f"{name}-job", wait=True, logs="None")
predictor = estimator.deploy(
    **instances,
    endpoint_name=name,
    env={"ANSWER": "model"},
    serializer=CSVSerializer(),
    deserializer=JSONDeserializer(),
)
model = predictor.predict([[1, 2]])

Path("weights.txt").write_text("packed\n")
with tarfile.open("model.tar.gz", "w:gz") as archive:
    archive.add("weights.txt")
data = S3Uploader.upload("model.tar.gz", f"s3://{session.default_bucket()}/{name}", sagemaker_session=session)
other = Model(image_uri=image, model_data=data, role=role, env={"ANSWER": "json"}, sagemaker_session=session)
other.create(instance_type="ml.m5.large")
predictor.update_endpoint(model_name=other.name, **instances)
rows = predictor.predict([[1, 2], [3, 4]], initial_args={"CustomAttributes": "trace=1"})
attached = Predictor(name, sagemaker_session=session, serializer=JSONSerializer(), deserializer=JSONDeserializer())
document = attached.predict({"a": [1]})

echoing = Model(
    image_uri=image,
    model_data=data,
    role=role,
    predictor_cls=Predictor,
    sagemaker_session=session,
    name=f"{name}-echoes",
)
echo = echoing.deploy(**instances, endpoint_name=f"{name}-echoes", serializer=NumpySerializer(), wait=False)
session.sagemaker_client.get_waiter("endpoint_in_service").wait(EndpointName=echo.endpoint_name)
array = np.load(io.BytesIO(echo.predict(np.array([1.5, 2.5]))))

for each in (predictor, echo):
    each.delete_model()
    each.delete_endpoint()
    session.sagemaker_client.get_waiter("endpoint_deleted").wait(EndpointName=each.endpoint_name)
print()  # the SDK has written dots and marks
print(
    json.dumps(
        {
            "model": model,
            "rows": [rows["body"], rows["headers"]["content-type"], rows["headers"]["accept"]],
            "attributes": rows["headers"]["x-amzn-sagemaker-custom-attributes"],
            "document": [document["body"], document["headers"]["content-type"]],
            "array": array.tolist(),
            "left": [each["EndpointName"] for each in session.sagemaker_client.list_endpoints()["Endpoints"]],
        }
    )
)

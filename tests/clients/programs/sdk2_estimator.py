"""SDK v2: data uploaded, a job fitted with its logs, attached to again, its metrics and its model read."""

import json
import sys
import tarfile
from pathlib import Path

import sagemaker
from sagemaker.analytics import TrainingJobAnalytics
from sagemaker.estimator import Estimator
from sagemaker.s3 import S3Downloader

image, name = sys.argv[1:]
session = sagemaker.Session()
role = sagemaker.get_execution_role()

Path("data").mkdir()
Path("data/rows.csv").write_text("1,2\n")
train = session.upload_data("data", key_prefix="input")
estimator = Estimator(
    image_uri=image,
    role=role,
    instance_count=1,
    instance_type="ml.m5.large",
    sagemaker_session=session,
    hyperparameters={"epochs": 3},
    environment={
        "SCRIPT": "cat /opt/ml/input/data/train/rows.csv; echo 'loss=0.25;'; echo weights > /opt/ml/model/weights"
    },
    metric_definitions=[{"Name": "loss", "Regex": "loss=([0-9.]+);"}],
    tags=[{"Key": "team", "Value": "a"}],
)
estimator.fit({"train": train}, job_name=name, wait=True, logs="All")

attached = Estimator.attach(name, sagemaker_session=session)
metrics = TrainingJobAnalytics(name, sagemaker_session=session, period=1).dataframe()
S3Downloader.download(estimator.model_data, ".", sagemaker_session=session)
with tarfile.open("model.tar.gz") as archive:
    members = sorted(archive.getnames())
print(
    json.dumps(
        {
            "role": role,
            "train": train,
            "attached": [attached.role, attached.model_data == estimator.model_data, attached.hyperparameters()],
            "metrics": metrics[["metric_name", "value"]].values.tolist(),
            "model": members,
        }
    )
)

"""SDK v2 in its local mode, with local data."""

import sys

import sagemaker
from sagemaker.estimator import Estimator

estimator = Estimator(
    image_uri=sys.argv[1],
    role="arn:aws:iam::123456789012:role/training",
    instance_count=1,
    instance_type="local",
    output_path="file://out",
    environment={"SCRIPT": "cat /opt/ml/input/data/train/rows.csv; echo weights > /opt/ml/model/weights"},
)
estimator.fit({"train": "file://data"}, job_name=sys.argv[2], logs="None")
print(sagemaker.__version__)

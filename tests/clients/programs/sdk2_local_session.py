"""SDK v2 with a local session, which runs every job by itself."""

import sys

from sagemaker.estimator import Estimator
from sagemaker.local import LocalSession

session = LocalSession()
estimator = Estimator(
    image_uri=sys.argv[1],
    role="arn:aws:iam::123456789012:role/training",
    instance_count=1,
    instance_type="ml.m5.large",
    sagemaker_session=session,
    environment={"SCRIPT": "echo weights > /opt/ml/model/weights"},
)
estimator.fit(job_name=sys.argv[2], logs="None")

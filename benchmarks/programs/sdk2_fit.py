"""SDK v2 as on AWS: uploads a folder, trains, and waits for the end: IMAGE FOLDER."""

import sys

from sagemaker import Session
from sagemaker.estimator import Estimator

image, folder = sys.argv[1:]
session = Session()
estimator = Estimator(
    image_uri=image,
    role="arn:aws:iam::123456789012:role/training",
    instance_count=1,
    instance_type="ml.m5.large",
    sagemaker_session=session,
    disable_profiler=True,
)
estimator.fit({"training": session.upload_data(folder, key_prefix="data")})
print(estimator.model_data)

"""SDK v2: a framework's estimator with the user's own code on the toolkit's image, stopped and failed jobs, Airflow."""

import json
import sys
import time
from pathlib import Path

import sagemaker
from sagemaker.estimator import Estimator
from sagemaker.exceptions import UnexpectedStatusException
from sagemaker.pytorch import PyTorch
from sagemaker.workflow.airflow import training_config

toolkit_image, image, name = sys.argv[1:]
session = sagemaker.Session()
role = sagemaker.get_execution_role()

Path("source").mkdir()
Path("source/train.py").write_text("import rates\nprint('rate is', rates.RATE)\n")
Path("source/rates.py").write_text("RATE = 0.125\n")
estimator = PyTorch(
    entry_point="train.py",
    source_dir="source",
    image_uri=toolkit_image,
    role=role,
    instance_count=1,
    instance_type="ml.m5.large",
    sagemaker_session=session,
)
estimator.fit(job_name=name, wait=True, logs="None")

plain = {"image_uri": image, "role": role, "instance_count": 1, "instance_type": "ml.m5.large"}
long = Estimator(**plain, environment={"SCRIPT": "trap 'exit 0' TERM; sleep 1000 & wait"}, sagemaker_session=session)
long.fit(job_name=f"{name}-stopped", wait=False)
session.stop_training_job(f"{name}-stopped")
while session.describe_training_job(f"{name}-stopped")["TrainingJobStatus"] == "Stopping":
    time.sleep(0.5)  # the SDK takes this for an end
stopped = session.wait_for_job(f"{name}-stopped", poll=1)["TrainingJobStatus"]

failing = Estimator(
    **plain, environment={"SCRIPT": "printf 'no rows' > /opt/ml/output/failure; exit 2"}, sagemaker_session=session
)
failed = ""
try:
    failing.fit(job_name=f"{name}-failed", wait=True, logs="None")
except UnexpectedStatusException as error:
    failed = f"{error.actual_status}: {error}"
estimator.fit(job_name=f"{name}-left", wait=False)  # it begins when this program has ended
Path("airflow.json").write_text(json.dumps(training_config(estimator, job_name=f"{name}-airflow")))
print(json.dumps({"stopped": stopped, "failed": failed}))

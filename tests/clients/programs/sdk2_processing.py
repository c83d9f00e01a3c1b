"""SDK v2: each kind of processor, with local data, code of the user's, a failed job and a stopped one."""

import json
import sys
from pathlib import Path

import sagemaker
from sagemaker.exceptions import UnexpectedStatusException
from sagemaker.processing import FrameworkProcessor, ProcessingInput, ProcessingOutput, Processor, ScriptProcessor
from sagemaker.sklearn.estimator import SKLearn
from sagemaker.sklearn.processing import SKLearnProcessor

image, name = sys.argv[1:]
session = sagemaker.Session()
plain = {"instance_count": 1, "instance_type": "ml.m5.large", "sagemaker_session": session}
role = sagemaker.get_execution_role()

Path("data").mkdir()
Path("data/rows.csv").write_text("1,2\n3,4\n")
Path("split.py").write_text(
    "import sys\n"
    "rows = open('/opt/ml/processing/data/rows.csv').readlines()\n"
    "open('/opt/ml/processing/train/rows.csv', 'w').write(rows[0])\n"
    "print('split', *sys.argv[1:])\n"
)
Path("source").mkdir()
Path("source/main.py").write_text("import rates, sys\nprint('rate is', rates.RATE, *sys.argv[1:])\n")
Path("source/rates.py").write_text("RATE = 0.125\n")
data = ProcessingInput(source="data", destination="/opt/ml/processing/data")
train = ProcessingOutput(source="/opt/ml/processing/train", output_name="train")

Processor(role=role, image_uri=image, entrypoint=["cat", "/opt/ml/processing/data/rows.csv"], **plain).run(
    inputs=[data], job_name=f"{name}-plain"
)
script = ScriptProcessor(role=role, image_uri=image, command=["python3"], **plain)
script.run(code="split.py", inputs=[data], outputs=[train], arguments=["--part", "1"], job_name=f"{name}-script")
output = script.latest_job.outputs[0].destination
downloaded = sagemaker.s3.S3Downloader.read_file(f"{output}/rows.csv", sagemaker_session=session)

sklearn = SKLearnProcessor(framework_version="1.2-1", role=role, **plain)
sklearn.image_uri = image  # AWS's image is in an account of AWS
sklearn.run(code="split.py", inputs=[data], outputs=[train], job_name=f"{name}-sklearn")

framework = FrameworkProcessor(
    estimator_cls=SKLearn, framework_version="1.2-1", image_uri=image, command=["python3"], role=role, **plain
)
framework.run(code="main.py", source_dir="source", arguments=["--x", "y"], job_name=f"{name}-framework")

failed = ""
try:
    Processor(role=role, image_uri=image, entrypoint=["false"], **plain).run(job_name=f"{name}-failed")
except UnexpectedStatusException as error:
    failed = f"{error.actual_status}: {error}"
long = Processor(role=role, image_uri=image, entrypoint=["sleep", "300"], **plain)
long.run(wait=False, logs=False, job_name=f"{name}-stopped")
long.latest_job.stop()
print(
    json.dumps(
        {
            "train": downloaded,
            "status": script.latest_job.describe()["ProcessingJobStatus"],
            "failed": failed,
        }
    )
)

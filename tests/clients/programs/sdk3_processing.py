"""SDK v3: processors with code of the user's, and the resource of a job."""

import json
import logging
import sys
from pathlib import Path

import boto3
from sagemaker.core.helper.session_helper import Session
from sagemaker.core.processing import FrameworkProcessor, Processor, ScriptProcessor
from sagemaker.core.resources import ProcessingJob
from sagemaker.core.shapes import ProcessingInput, ProcessingOutput, ProcessingS3Input, ProcessingS3Output

image, name = sys.argv[1:]
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
session = Session()
plain = {"instance_count": 1, "instance_type": "ml.m5.large", "sagemaker_session": session}
role = "arn:aws:iam::123456789012:role/processing"
s3 = boto3.client("s3")
s3.create_bucket(Bucket="rows")
s3.put_object(Bucket="rows", Key="in/rows.csv", Body=b"1,2\n3,4\n")

Path("split.py").write_text(
    "import sys\n"
    "rows = open('/opt/ml/processing/data/rows.csv').readlines()\n"
    "open('/opt/ml/processing/train/rows.csv', 'w').write(rows[0])\n"
    "print('split', *sys.argv[1:])\n"
)
Path("source").mkdir()
Path("source/main.py").write_text("import rates, sys\nprint('rate is', rates.RATE, *sys.argv[1:])\n")
Path("source/rates.py").write_text("RATE = 0.125\n")
data = ProcessingInput(
    input_name="data",
    s3_input=ProcessingS3Input(
        s3_uri="s3://rows/in",
        local_path="/opt/ml/processing/data",
        s3_data_type="S3Prefix",
        s3_input_mode="File",
    ),
)
train = ProcessingOutput(
    output_name="train",
    s3_output=ProcessingS3Output(
        s3_uri="s3://rows/train", local_path="/opt/ml/processing/train", s3_upload_mode="EndOfJob"
    ),
)
Processor(role=role, image_uri=image, entrypoint=["cat", "/opt/ml/processing/data/rows.csv"], **plain).run(
    inputs=[data], job_name=f"{name}-plain"
)
ScriptProcessor(role=role, image_uri=image, command=["python3"], **plain).run(
    code="split.py", inputs=[data], outputs=[train], arguments=["--part", "1"], job_name=f"{name}-script"
)
FrameworkProcessor(role=role, image_uri=image, command=["python3"], **plain).run(
    code="main.py", source_dir="source", arguments=["--x", "y"], job_name=f"{name}-framework"
)
job = ProcessingJob.get(f"{name}-script")
print(
    json.dumps(
        {
            "status": job.processing_job_status,
            "inputs": sorted(each.input_name for each in job.processing_inputs),
            "train": s3.get_object(Bucket="rows", Key="train/rows.csv")["Body"].read().decode(),
            "listed": sorted(each.processing_job_name for each in ProcessingJob.get_all(name_contains=name)),
        }
    )
)

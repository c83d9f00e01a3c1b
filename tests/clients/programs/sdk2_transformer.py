"""SDK v2: a model, and a Transformer of it, whose log is shown and whose output is read."""

import json
import sys
from pathlib import Path

import sagemaker
from sagemaker.model import Model
from sagemaker.s3 import S3Downloader

image, name = sys.argv[1:]
session = sagemaker.Session()

Path("data").mkdir()
Path("data/rows.csv").write_text("id1,a\nid2,b\n")
rows = session.upload_data("data", key_prefix="rows")
model = Model(
    image_uri=image, role=sagemaker.get_execution_role(), sagemaker_session=session, env={"OWN": "of the model"}
)
transformer = model.transformer(
    instance_count=1,
    instance_type="ml.m5.large",
    strategy="SingleRecord",
    assemble_with="Line",
    accept="text/csv",
    max_concurrent_transforms=2,
    max_payload=1,
    env={"SEEN": "of the job"},
)
transformer.transform(
    rows,
    content_type="text/csv",
    split_type="Line",
    job_name=name,
    input_filter="$[1:]",
    join_source="Input",
    output_filter="$[0,-1]",
    wait=True,
    logs=True,
)
described = session.sagemaker_client.describe_transform_job(TransformJobName=name)
print(
    json.dumps(
        {
            "status": described["TransformJobStatus"],
            "strategy": described["BatchStrategy"],
            "environment": described["Environment"],
            "output": S3Downloader.read_file(f"{transformer.output_path}/rows.csv.out", sagemaker_session=session),
        }
    )
)

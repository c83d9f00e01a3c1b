"""Documents printed in the developer guide."""

import json
from typing import Any

from smlocal.jobfile.document import Document
from smlocal.sagemaker.contract.documents.config_files import config_files, homogeneous
from smlocal.sagemaker.jobfile.job_file import read_job

THREE_CHANNELS = """{
  "train" : {"ContentType": "trainingContentType", "TrainingInputMode": "File",
             "S3DistributionType": "FullyReplicated", "RecordWrapperType": "None"},
  "evaluation" : {"ContentType": "evalContentType", "TrainingInputMode": "File",
                  "S3DistributionType": "FullyReplicated", "RecordWrapperType": "None"},
  "validation" : {"TrainingInputMode": "File",
                  "S3DistributionType": "FullyReplicated", "RecordWrapperType": "None"}
}"""
"""inputdataconfig.json for the channels train, evaluation and validation, as the guide of 2018 has it."""


def channel(name: str, **members: str) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://bucket/{name}/"}
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}, **members}


def test_the_three_channels_of_the_developer_guide() -> None:
    request = {
        "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
        "InputDataConfig": [
            channel("train", ContentType="trainingContentType"),
            channel("evaluation", ContentType="evalContentType"),
            channel("validation"),
        ],
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    }
    job = read_job(Document(request, name="job.yaml", directory="/work"), strict=False)
    hosts = homogeneous(1, "ml.m5.large")
    written = config_files(job.request, hosts[0], hosts)["inputdataconfig.json"]
    # Equal with the order of all keys, and without spaces.
    assert written == json.dumps(json.loads(THREE_CHANNELS), separators=(",", ":")).encode()

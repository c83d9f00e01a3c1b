"""A commented file of a transform job."""

import json

from smlocal.sagemaker.hosting.new_file import container
from smlocal.sagemaker.jobfile.new_file import NewJobFile


def text(asked: NewJobFile) -> str:
    """A file with the newest model of its image, and the data beside it as records."""
    folders = {**asked.data, "": "./data"}
    data = asked.records or next((folders[each] for each in ("test", "testing") if each in folders), "")
    data = data or next(iter(folders.values()))
    return f"""\
{asked.head("A CreateTransformJob request with its model")}\
# To submit it to SageMaker, make a model of PrimaryContainer there, give its ModelName, and s3:// locations.

# TransformJobName: my-job # default: a name made from this file's name and the time
{container(asked)}TransformInput:
  DataSource: # a folder, a file or an s3:// location
    S3DataSource: {{S3DataType: S3Prefix, S3Uri: {json.dumps(data)}}}
  ContentType: text/csv
  SplitType: Line # each line is a record; None sends whole objects
TransformOutput: # a file.csv.out for each file.csv
  S3OutputPath: ./smlocal-output/transform
  AssembleWith: Line
  Accept: text/csv
TransformResources: {{InstanceType: ml.m5.large, InstanceCount: 1}}
# BatchStrategy: SingleRecord # one record a request; default: as many as fit in MaxPayloadInMB
"""

"""A commented file of a processing job."""

import json
from typing import Final

from smlocal.sagemaker.jobfile.new_file import NewJobFile

_PROGRAMS: Final = ("process", "preprocess", "processing", "preprocessing", "prepare", "split", "evaluate")
_CODE: Final = "/opt/ml/processing/code"
_LISTS: Final = "ls -R /opt/ml/processing >/opt/ml/processing/output/files.txt"


def text(asked: NewJobFile) -> str:
    """A file that runs the program beside it, or else lists the container's files."""
    folder, program = _program(asked)
    command = ["python3", f"{_CODE}/{program}"] if program else ["/bin/sh", "-c", _LISTS]
    says = "the program" if program else "your program, such as [python3, /opt/program/process.py]"
    inputs = [("code", folder, _CODE)] if program else []
    inputs += [(name, each, f"/opt/ml/processing/input/{name}") for name, each in asked.data.items()]
    listed = "".join(
        f"  - InputName: {name}\n    S3Input: {{S3Uri: {json.dumps(each)}, LocalPath: {path}}}\n"
        for name, each, path in inputs or [("data", "./data", "/opt/ml/processing/input/data")]
    )
    listed = f"ProcessingInputs: # a folder, a file or an s3:// location\n{listed}"
    if not inputs:
        listed = "".join(f"# {line}\n" for line in listed.splitlines())
    return f"""\
{asked.head("A CreateProcessingJob request")}\
# To submit it to SageMaker, give ProcessingJobName and RoleArn, an image in ECR, and s3:// locations for local paths.

# ProcessingJobName: my-job # default: a name made from this file's name and the time
# RoleArn: arn:aws:iam::123456789012:role/SageMakerRole
AppSpecification:
  ImageUri: {asked.quoted_image}
  ContainerEntrypoint: {json.dumps(command)} # {says}; default: the ENTRYPOINT of the image
  # ContainerArguments: ["--part", "0.2"]
{listed}ProcessingOutputConfig:
  Outputs: # what the program writes to LocalPath is saved when it ends
    - OutputName: output
      S3Output: {{S3Uri: ./smlocal-output/processing, LocalPath: /opt/ml/processing/output, S3UploadMode: EndOfJob}}
ProcessingResources:
  ClusterConfig: {{InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 30}}
StoppingCondition: {{MaxRuntimeInSeconds: 3600}}
"""


def _program(asked: NewJobFile) -> tuple[str, str]:
    """The folder and name of a program with a usual name. The file's own folder is not used: it has data too."""
    for folder, names in asked.programs.items():
        for name in names:
            if folder != "." and name.removesuffix(".py") in _PROGRAMS:
                return f"./{folder}", name
    return "", ""

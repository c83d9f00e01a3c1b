"""A commented model file."""

import json
from typing import Final

from smlocal.sagemaker.jobfile.new_file import NewJobFile
from smlocal.sagemaker.serving.model_of_job import newest_model

_WHAT: Final = "the name of a job, an archive or an s3:// location; unpacked to /opt/ml/model"


def text(asked: NewJobFile) -> str:
    """A model file with the newest model of its image."""
    return f"""\
{asked.head("The requests CreateModel, CreateEndpointConfig and CreateEndpoint", "deploy")}\
# Then call it:  smlocal invoke NAME --body-file FILE      Stop it:  smlocal stop NAME

# EndpointName: my-endpoint # default: a name made from this file's name and the time
# ExecutionRoleArn: arn:aws:iam::123456789012:role/SageMakerRole
{container(asked)}ProductionVariants:
  - {{VariantName: AllTraffic, InstanceType: ml.m5.large, InitialInstanceCount: 1}}
# Local: # settings of this machine, which the service does not know
#   Serving: {{StartupSeconds: 60}} # until /ping must be answered; the service waits 480
"""


def container(asked: NewJobFile) -> str:
    """The lines of the container, with its model."""
    model = newest_model(asked.image)
    given = f"  ModelDataUrl: {model}" if model else "  # ModelDataUrl: my-job"
    return f"""\
PrimaryContainer:
  # The container is started as `docker run IMAGE serve`, and answers GET /ping and POST /invocations on port 8080.
  Image: {asked.quoted_image}
{given} # {_WHAT}
  # Environment: {json.dumps({"LOG_LEVEL": "info"})}
"""

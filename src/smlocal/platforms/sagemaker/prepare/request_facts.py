"""What a request needs of this machine before the engine is asked: region, account, inputs and output folder."""

import os

from smlocal.contract.s3_uri import s3_form
from smlocal.errors import RegionNameError
from smlocal.platforms.sagemaker.contract import identity
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.prepare.inputs import Inputs, list_inputs
from smlocal.platforms.sagemaker.prepare.job_image import image_name
from smlocal.platforms.sagemaker.prepare.output_folder import output_folder
from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.aws_session import profile_region


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestFacts:
    """These facts of one request."""

    region: str
    account: str
    inputs: Inputs
    output: str
    """The folder for artifacts."""
    publishes: bool
    """True if anything is to be written to S3."""


def request_facts(job: JobFile, *, strict: bool) -> RequestFacts:
    """Find them; what is wrong with them is an error."""
    region = region_of(job)
    inputs = list_inputs(job, strict=strict, region=region)
    return RequestFacts(
        region=region,
        account=account_of(job),
        inputs=inputs,
        output=output_folder(job),
        publishes=_publishes(job, inputs),
    )


def account_of(job: JobFile) -> str:
    """The account that the job's ARN names."""
    return identity.account(role=job.request.RoleArn, image=image_name(job))


def region_of(job: JobFile) -> str:
    """The region of a job; `RegionNameError` if the environment has none that is valid."""
    region = identity.region(
        stated=job.local.Region, environment=os.environ, profile=profile_region(), image=image_name(job)
    )
    if identity.is_region_name(region):
        return region
    variables = ("AWS_REGION", "AWS_DEFAULT_REGION")
    source = next((each for each in variables if os.environ.get(each) == region), "the AWS profile in use")
    raise RegionNameError(
        f"{source} says '{region}', which is not a valid region",
        remedy=["Set AWS_REGION, for example to us-east-1, or Local.Region in the job file."],
    )


def _publishes(job: JobFile, inputs: Inputs) -> bool:
    request = job.request
    collectors = {
        "TensorBoardOutputConfig": request.TensorBoardOutputConfig,
        "DebugHookConfig": request.DebugHookConfig,
    }
    asked = [config.S3OutputPath for member, config in collectors.items() if config and member not in inputs.collectors]
    return job.local.Publish and (
        (inputs.checkpoints is not None and inputs.checkpoints.remote)
        or any(s3_form(uri).startswith("s3://") for uri in (request.OutputDataConfig.S3OutputPath, *asked))
    )

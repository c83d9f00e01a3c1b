"""Which region jobs use."""

from collections.abc import Mapping

from smlocal.doctor.finding import Finding, fine, problem, warning
from smlocal.doctor.machine import Machine
from smlocal.platforms.sagemaker.contract import identity
from smlocal.sources.s3.aws_session import read_profile


def check(machine: Machine) -> Finding:
    """The region of a job without Local.Region."""
    return judge(machine.environment, read_profile().region)


def judge(environment: Mapping[str, str], profile: str) -> Finding:
    """It is used for AWS_REGION in the container, for ARNs and for S3."""
    region = identity.region(stated=None, environment=environment, profile=profile, image=None)
    if not identity.is_region_name(region):
        return problem(f"'{region}' is not a valid region", "Set AWS_REGION, for example to us-east-1.")
    if environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION"):
        return fine(f"{region}, from the environment")
    if profile:
        return fine(f"{region}, from the profile")
    return warning(
        f"none configured: jobs use {region}",
        "Set AWS_REGION, or Local.Region in the job file.",
    )

"""Where a job of SageMaker's is: its region, its account, and its place on this machine."""

import os
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.data.sources.s3.aws_session import profile_region
from smlocal.engine.engines import Engines
from smlocal.errors import RegionNameError, TooManyHostsError
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.output.plan import is_remote_output
from smlocal.jobs.planning.workload import Workload
from smlocal.sagemaker.contract import identity
from smlocal.sagemaker.contract.requested import MAX_PLANNED_HOSTS

if TYPE_CHECKING:
    from smlocal.jobs.looking import JobPlace
else:  # endpoints have no channels and do not need it
    JobPlace = at_use("smlocal.jobs.looking", "JobPlace")


def place_of(work: Workload, *, name: str, home: str, engines: Engines, run_id: str | None = None) -> JobPlace:
    """Where the job is. `run_id`: of a job that is already recorded."""
    return JobPlace(
        name=name,
        region=region_of(work.local, work.image),
        account=identity.account(role=work.role, image=work.image),
        home=home,
        engines=engines,
        run_id=run_id,
    )


def arn_of(work: Workload, kind: str, name: str) -> str:
    """The ARN of a job that is not planned yet."""
    account = identity.account(role=work.role, image=work.image)
    return identity.sagemaker_arn(kind, name, region=region_of(work.local, work.image), account=account)


def region_of(local: LocalSettings, image: str) -> str:
    """The region of a job; `RegionNameError` if the environment has none that is valid."""
    region = identity.region(stated=local.Region, environment=os.environ, profile=profile_region(), image=image)
    if identity.is_region_name(region):
        return region
    variables = ("AWS_REGION", "AWS_DEFAULT_REGION")
    source = next((each for each in variables if os.environ.get(each) == region), "the AWS profile in use")
    raise RegionNameError(
        f"{source} says '{region}', which is not a valid region",
        remedy=["Set AWS_REGION, for example to us-east-1, or Local.Region in the job file."],
    )


def pinned(work: Workload, output: str) -> dict[str, Any]:
    """Settings that would depend on the process that starts the job: on its environment and its folder."""
    remote = {"Output": output} if is_remote_output(work.output.uri) else {}
    return {"Region": region_of(work.local, work.image), **remote}


def check_host_count(count: int, *, most: int | None) -> None:
    """All hosts are containers of one machine: refuse more than `most`, and more than can be planned."""
    if count > MAX_PLANNED_HOSTS:
        raise TooManyHostsError(
            f"{count} hosts are too many for one machine: the maximum is {MAX_PLANNED_HOSTS}",
            remedy=["Use fewer: --instance-count, or ResourceConfig.InstanceCount."],
        )
    if most is not None and count > most:
        raise TooManyHostsError(
            f"{count} hosts would be {count} containers at once on this machine, and Local.MaxHosts is {most}",
            remedy=[
                "Use fewer: --instance-count, or ResourceConfig.InstanceCount.",
                "Raise Local.MaxHosts if this machine has enough memory: smlocal plan shows what they need.",
            ],
        )

"""A tuning job of the service, for the screen of a run."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from smlocal.cli.views.followed_job import ServiceView
from smlocal.cli.views.job_there import JobThere
from smlocal.service.service import Service

if TYPE_CHECKING:
    from smlocal.cli.terminal.screen import Screen


def tuning_job_there(service: "Service", name: str, screen: "Screen", make: Callable[[], None]) -> JobThere:
    """The tuning job of this name, which `make` creates."""
    from smlocal.service.tuning_submission import STATUS, FollowedTuning, stop

    named = f"--hyper-parameter-tuning-job-name {name}{service.cli_options}"
    described = f"aws sagemaker describe-hyper-parameter-tuning-job {named}"
    log = f"aws logs tail /aws/sagemaker/TrainingJobs --log-stream-name-prefix {name}- --follow"
    return JobThere(
        name=name,
        make=make,
        follow=FollowedTuning(service, name, ServiceView(screen)).follow,
        stop=lambda: stop(service, name),
        stopping="SIGTERM for training jobs, and up to 120 s to save",
        status_member=STATUS,
        described_by=described,
        runs_on=(
            f"{name} runs on.",
            f"  its state   {described}",
            f"  its logs    {log}{service.cli_options}",
            f"  stop it     aws sagemaker stop-hyper-parameter-tuning-job {named}",
        ),
    )

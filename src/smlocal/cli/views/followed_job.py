"""A training, processing or tuning job of the service, for the screen of a run."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from smlocal.cli.views.job_there import JobThere
from smlocal.engine.interface import Written
from smlocal.service import submission as training_submission
from smlocal.service import tuning_submission
from smlocal.service.service import Service

if TYPE_CHECKING:
    from smlocal.cli.terminal.screen import Screen


class ServiceView:
    """Shows what `service.following` tells."""

    def __init__(self, screen: "Screen") -> None:
        """`screen`: of the command."""
        self._screen = screen
        self.phase_began, self.phase_ended = screen.phase_began, screen.phase_ended
        self.progress, self.working, self.warning = screen.progress, screen.working, screen.warning

    def lines(self, host: str, data: bytes) -> None:
        """As lines of a container."""
        self._screen.output(host, Written(data, [(1, data)]))


def job_there(service: "Service", name: str, screen: "Screen", make: Callable[[], None]) -> JobThere:
    """The job of this name, which `make` creates."""
    followed = training_submission.Followed(service, name, ServiceView(screen))

    def hints(answer: Mapping[str, Any]) -> list[str]:
        texts = {host: tail.decode(errors="replace") for host, tail in followed.tails.items()}
        return [*training_submission.failure_hints(answer.get("FailureReason", ""), texts)]

    described = f"{service.kind.cli('describe', name)}{service.cli_options}"
    log = f"aws logs tail {service.kind.log_group} --log-stream-name-prefix {name}/ --follow"
    return JobThere(
        name=name,
        make=make,
        follow=followed.follow,
        stop=lambda: training_submission.stop(service, name),
        stopping="SIGTERM, and up to 120 s to save its work",
        status_member=service.kind.status_member,
        described_by=described,
        runs_on=(
            f"{name} runs on.",
            f"  its state   {described}",
            f"  its log     {log}{service.cli_options}",
            f"  stop it     {service.kind.cli('stop', name)}{service.cli_options}",
        ),
        hints=hints,
    )


def tuning_job_there(service: "Service", name: str, screen: "Screen", make: Callable[[], None]) -> JobThere:
    """The tuning job of this name, which `make` creates."""
    named = f"--hyper-parameter-tuning-job-name {name}{service.cli_options}"
    described = f"aws sagemaker describe-hyper-parameter-tuning-job {named}"
    log = f"aws logs tail /aws/sagemaker/TrainingJobs --log-stream-name-prefix {name}- --follow"
    return JobThere(
        name=name,
        make=make,
        follow=tuning_submission.FollowedTuning(service, name, ServiceView(screen)).follow,
        stop=lambda: tuning_submission.stop(service, name),
        stopping="SIGTERM for training jobs, and up to 120 s to save",
        status_member=tuning_submission.STATUS,
        described_by=described,
        runs_on=(
            f"{name} runs on.",
            f"  its state   {described}",
            f"  its logs    {log}{service.cli_options}",
            f"  stop it     aws sagemaker stop-hyper-parameter-tuning-job {named}",
        ),
    )

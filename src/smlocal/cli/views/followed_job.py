"""A training or processing job of the service, for the screen of a run."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from smlocal.cli.views.job_there import JobThere
from smlocal.engine.interface import Written
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
    from smlocal.service.job_kind import cli_command
    from smlocal.service.submission import Followed, failure_hints, stop

    followed = Followed(service, name, ServiceView(screen))

    def hints(answer: Mapping[str, Any]) -> list[str]:
        texts = {host: tail.decode(errors="replace") for host, tail in followed.tails.items()}
        return [*failure_hints(answer.get("FailureReason", ""), texts)]

    described = f"{cli_command(service.kind, 'describe', name)}{service.cli_options}"
    log = f"aws logs tail {service.kind.log_group} --log-stream-name-prefix {name}/ --follow"
    return JobThere(
        name=name,
        make=make,
        follow=followed.follow,
        stop=lambda: stop(service, name),
        stopping="SIGTERM, and up to 120 s to save its work",
        status_member=service.kind.status_member,
        described_by=described,
        runs_on=(
            f"{name} runs on.",
            f"  its state   {described}",
            f"  its log     {log}{service.cli_options}",
            f"  stop it     {cli_command(service.kind, 'stop', name)}{service.cli_options}",
        ),
        hints=hints,
    )

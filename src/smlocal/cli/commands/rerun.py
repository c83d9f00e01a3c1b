"""`smlocal rerun`: run the recorded request of a job again."""

from functools import partial
from typing import TYPE_CHECKING, Any

from smlocal.cli.commands.run import run_job, run_options
from smlocal.cli.image_build import with_built_image
from smlocal.cli.job_argument import job_argument
from smlocal.cli.job_options import override_options, overrides_and_defaults, said
from smlocal.cli.shown_help import shown_command

if TYPE_CHECKING:
    from smlocal.jobfile.job_reading import AskedJob


@shown_command(
    "rerun",
    examples=(
        ("smlocal rerun @last", "Run the newest job again."),
        ("smlocal rerun my-job -p epochs=5 --name my-job-2", "Change a hyperparameter."),
    ),
)
@partial(job_argument, parameter="recorded", required=True)
@override_options
@run_options
def command(*, recorded: str, ci: str | None, **given: Any) -> int:
    """Run the request of an earlier job again, under a new name.

    NAME is a job of any status. Its recorded request is used, not its job file. Options override the request.
    """

    def read() -> "tuple[AskedJob, str]":
        from smlocal.api.recorded_job import read_recorded

        overrides, defaults = overrides_and_defaults(with_built_image(given, image_needed=False))
        return read_recorded(recorded, overrides, defaults=defaults, strict=given["strict"], on_message=said(given))

    return run_job(read, given, ci=ci, title="rerun", file=None)

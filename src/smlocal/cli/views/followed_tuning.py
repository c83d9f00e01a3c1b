"""Follow a tuning job of the service on the screen of a run."""

import json
import signal
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.terminal.printable import json_without_commands
from smlocal.cli.views.followed_job import EXIT_CODES, SIGNALLED, StopSignals, may_stop
from smlocal.errors import SmlocalError
from smlocal.jobs.finish.report_path import write_report
from smlocal.service.service import Service

if TYPE_CHECKING:
    from smlocal.cli.terminal.screen import Screen


def follow_tuning(
    service: "Service", name: str, screen: "Screen", *, ask: bool, as_json: bool, report: str | None
) -> int:
    """Show the search until it ends; returns the exit code of the command. Signals as `follow_job` has them."""
    from smlocal.service.tuning_submission import FollowedTuning, stop

    followed = FollowedTuning(service, name, screen)
    stopped_by: int | None = None
    while True:
        signals = StopSignals()
        try:
            with signals.noticed():
                answer = followed.follow(signals)
        except SmlocalError as error:
            screen.finish()
            raise _with_job(error, service, name) from error
        if answer is not None:
            return _ended(answer, screen, as_json=as_json, report=report, stopped_by=stopped_by)
        number = signals.number or signal.SIGINT
        if stopped_by is not None or not may_stop(name, screen, number, ask=ask):
            screen.finish()
            click.echo(_runs_on(service, name), err=True)
            return SIGNALLED + number
        try:
            stop(service, name)
        except SmlocalError as error:
            screen.finish()
            raise _with_job(error, service, name) from error
        stopped_by = number
        screen.progress("◌ Stopping: SIGTERM for training jobs, and up to 120 s to save (Ctrl-C again to leave it)")


def _ended(
    answer: Mapping[str, Any], screen: "Screen", *, as_json: bool, report: str | None, stopped_by: int | None
) -> int:
    from smlocal.service.submission import answer_document
    from smlocal.service.tuning_submission import STATUS

    document = answer_document(answer)
    screen.ended_there(document, [], lambda: None)
    if as_json:
        click.echo(json_without_commands(json.dumps(document, indent=2)))
    code = EXIT_CODES.get(document[STATUS], 1)
    if stopped_by is not None and document[STATUS] == "Stopped":
        code = SIGNALLED + stopped_by
    if report is not None:
        try:
            write_report(report, f"{json.dumps(document, indent=2)}\n")
        except SmlocalError as error:
            screen.show_error(error, debug=False)
            code = code or error.exit_code
    sys.stdout.flush()
    return code


def describe_tuning_command(service: "Service", name: str) -> str:
    """The command of the AWS CLI that shows the state of a tuning job."""
    return f"aws sagemaker describe-hyper-parameter-tuning-job {_named(name)}{service.cli_options}"


def _named(name: str) -> str:
    return f"--hyper-parameter-tuning-job-name {name}"


def _runs_on(service: "Service", name: str) -> str:
    return "\n".join(_lines(service, name))


def _lines(service: "Service", name: str) -> Iterator[str]:
    log = f"aws logs tail /aws/sagemaker/TrainingJobs --log-stream-name-prefix {name}- --follow"
    yield f"{name} runs on."
    yield f"  its state   {describe_tuning_command(service, name)}"
    yield f"  its logs    {log}{service.cli_options}"
    yield f"  stop it     aws sagemaker stop-hyper-parameter-tuning-job {_named(name)}{service.cli_options}"


def _with_job(error: SmlocalError, service: "Service", name: str) -> SmlocalError:
    """The same error, which must not let anybody believe that the job has ended."""
    error.remedy = (*error.remedy, *_lines(service, name))
    return error

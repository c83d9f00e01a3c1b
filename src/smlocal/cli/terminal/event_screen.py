"""`--progress json`: one JSON object for each event on standard error, for programs."""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from smlocal.cli.terminal.errors import error_document
from smlocal.cli.terminal.messages import ProgressMode
from smlocal.cli.terminal.printable import Changes, json_without_commands
from smlocal.cli.terminal.screen import Screen
from smlocal.engine.interface import Written
from smlocal.errors import SmlocalError
from smlocal.jobs.kinds import showing
from smlocal.jobs.planning.model import RecordedPlan
from smlocal.jobs.view import JobView
from smlocal.terms.statuses import StopCause

_SECONDS_BETWEEN = 1.0


class EventScreen(Screen):
    """Every object has `Event` and `Time`. The containers' output is an event only if it goes to standard error."""

    def __init__(
        self,
        *,
        output_to: int,
        output_is_event: bool,
        timestamps: bool = False,
        log_prefix: bool = True,
        changes: "Changes | None" = None,
    ) -> None:
        self._output_is_event = output_is_event
        super().__init__(
            output_to=output_to,
            mode=ProgressMode.JSON,
            timestamps=timestamps,
            log_prefix=log_prefix,
            changes=changes,
        )

    def planned(self, plan: RecordedPlan) -> None:
        """The job has been created."""
        self._start = start = showing(plan.platform).start(plan)
        self._prepare_heads([*plan.host_names])
        self._event("Planned", **start.members)
        for note in plan.notes:
            if note.warning:
                self.warning(note.text)

    def headline(self, name: str, about: str, *, hosts: Sequence[str], member: str = "TrainingJobName") -> None:
        """A job was submitted."""
        self._prepare_heads(hosts)
        self._event("Submitted", **{member: name}, About=about, Hosts=[{"Name": each} for each in hosts])

    def progress(self, text: str) -> None:
        """A line about something slow."""
        self._event("Message", Text=text)

    def working(self, text: str) -> None:
        """The state of something slow, once a second at most."""
        if time.monotonic() - self._last_progress >= _SECONDS_BETWEEN:
            self._last_progress = time.monotonic()
            self._event("Progress", Text=text)

    def phase_began(self, phase: str) -> None:
        """A phase, by the service's name."""
        self._event("PhaseBegan", Phase=self._word(phase))

    def phase_ended(self, phase: str, seconds: float, detail: str, *, good: bool = True) -> None:
        """The phase is over."""
        self._event("PhaseEnded", Phase=self._word(phase), Seconds=round(seconds, 3), Detail=detail, Good=good)

    def output(self, host: str, written: Written) -> None:
        """A host has written something."""
        if not self._output_is_event:
            super().output(host, written)
            return
        text = written.lines.decode(errors="replace").removesuffix("\n")
        lines = text.split("\n") if written.lines else ()
        if data := "".join(_line("Output", Host=host, Line=each) for each in lines).encode():
            with self._output_lock:
                self._write_output(data)

    def stopping(self, cause: StopCause, grace: float | None) -> None:
        """SIGTERM is being sent, and SIGKILL `grace` seconds later. None: no container is running."""
        self._messages.stopping_since = time.monotonic()
        self._event("Stopping", Cause=cause, GraceSeconds=grace)

    def replica_changed(self, replica: str | None, happened: str, follows: str, exit_code: int | None) -> None:
        """Something has happened to a replica, or to the job."""
        self._event("Replica", Name=replica, Happened=happened, Follows=follows, ExitCode=exit_code)

    def step_changed(self, step: str, status: str, seconds: float | None, detail: str) -> None:
        """A step of a pipeline has begun or ended."""
        took = {} if seconds is None else {"Seconds": round(seconds, 3)}
        self._event("Step", StepName=step, StepStatus=status, **took, Detail=detail)

    def rule_changed(self, rule: str, status: str, detail: str, *, good: bool) -> None:
        """A debugger rule has a new status."""
        self._event("Rule", RuleConfigurationName=rule, RuleEvaluationStatus=status, Detail=detail, Good=good)

    def warning(self, text: str) -> None:
        """Something that does not end the job."""
        self._event("Warning", Text=text)

    def ended(self, view: JobView, group_end: str, before_waiting: Callable[[], None]) -> None:
        """The last event of a run."""
        del group_end
        self._ended(view.members, before_waiting)

    def ended_there(self, answer: Mapping[str, Any], hints: Sequence[str], before_waiting: Callable[[], None]) -> None:
        """The last event of a job of the service."""
        del hints
        members: tuple[str, ...] = ("TrainingJobName", "TrainingJobStatus", "SecondaryStatus", "FailureReason")
        if "ProcessingJobName" in answer:
            members = ("ProcessingJobName", "ProcessingJobStatus", "FailureReason", "ExitMessage")
        if "HyperParameterTuningJobName" in answer:
            members = ("HyperParameterTuningJobName", "HyperParameterTuningJobStatus", "FailureReason")
        if "PipelineExecutionArn" in answer:
            members = ("PipelineExecutionArn", "PipelineExecutionStatus", "FailureReason")
        self._ended({each: answer.get(each) for each in members}, before_waiting)

    def show_error(self, error: SmlocalError, *, debug: bool) -> None:
        """An error that came after the end of the job."""
        del debug
        print_error(error, as_json=False)

    def _ended(self, members: Mapping[str, Any], before_waiting: Callable[[], None]) -> None:
        self.finish(_line("Ended", **members).rstrip(), before_waiting)

    def _event(self, kind: str, **members: Any) -> None:
        self._messages.print(_line(kind, **members).rstrip())


def print_error(error: SmlocalError, *, as_json: bool) -> None:
    """Print an error as an event, and with `as_json` as a document to stdout."""
    document = error_document(error)
    with suppress(OSError):  # there is no place for the message
        print(_line("Error", Error=document), end="", file=sys.stderr, flush=True)  # noqa: T201 - output for programs
    if as_json:
        print(json_without_commands(json.dumps({"Error": document}, indent=2)))  # noqa: T201 - likewise


def _line(kind: str, **members: Any) -> str:
    return json_without_commands(json.dumps({"Event": kind, "Time": round(time.time(), 3), **members})) + "\n"

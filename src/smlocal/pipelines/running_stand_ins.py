"""Stand-ins of steps while an execution runs, each in a thread of the leader."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from threading import Event, Thread
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.pipelines.callback_steps import Ended, listed_outputs
from smlocal.pipelines.stand_in_run import StandInEnd, StandInInput, run_stand_in
from smlocal.sagemaker.pipelines.deciding import End, State
from smlocal.sagemaker.pipelines.definition import StandIn, Step

_END_SECONDS: Final = 10.0
_EXEC: Final = (sys.executable, "-P", "-m", "smlocal", "exec", "--")


@dataclass(kw_only=True, slots=True)
class _Run:
    step: Step
    thread: Thread
    ended: list[StandInEnd]
    stopped: Event


@dataclass(kw_only=True, slots=True)
class RunningStandIns:
    """Of one execution."""

    stand_ins: Mapping[str, StandIn]
    """By the names of steps as they are written."""
    folder: str
    """That of the pipeline's file."""
    logs: str
    """The folder for what they print."""
    home: str
    of_client: bool
    """True if a client of an endpoint has started the execution."""
    wake: Callable[[], None]
    """Called when one has ended."""
    killed: Event = field(default_factory=Event)
    _runs: dict[str, _Run] = field(default_factory=dict)

    def has(self, step: Step) -> bool:
        """True if something stands in for the step."""
        return step.given["Name"] in self.stand_ins

    def spoken(self, step: Step) -> str:
        """What does."""
        return self.stand_ins[step.given["Name"]].spoken

    def begin(self, step: Step, arguments: Any) -> None:
        """Run it, again if an earlier leader died while it ran: then nothing of that run is left."""
        stand_in = self.stand_ins[step.given["Name"]]
        ended: list[StandInEnd] = []
        stopped = Event()
        given = StandInInput(
            step=step,
            arguments=arguments,
            function_arn=str(step.given.get("FunctionArn", "")),
            folder=self.folder,
            log=os.path.join(self.logs, f"{step.name}.log"),
            # The clients of AWS in it reach this machine, as that client does.
            under=_EXEC if self.of_client else (),
            variables={"SMLOCAL_HOME": self.home},
        )

        def run() -> None:
            try:
                ended.append(run_stand_in(stand_in, given, stopped=stopped.is_set, killed=self.killed.is_set))
            except Exception as error:  # noqa: BLE001 - a step that never ended would hold up the execution for ever
                ended.append(StandInEnd(reason=f"the stand-in cannot run: {error}"))
            self.wake()

        os.makedirs(self.logs, exist_ok=True)
        thread = Thread(target=run, name=f"stand-in-{step.name}", daemon=True)
        self._runs[step.name] = _Run(step=step, thread=thread, ended=ended, stopped=stopped)
        thread.start()

    def look(self, step: Step, arguments: Any) -> Ended | None:
        """How it has ended; None if it runs."""
        run = self._runs.get(step.name)
        if run is None:
            self.begin(step, arguments)
            return None
        if not run.ended:  # the thread itself has yet to wake the leader, and to end
            return None
        del self._runs[step.name]
        return _ended(step, run.ended[0])

    def stop(self, step: Step) -> None:
        """A command gets SIGTERM; a handler is awaited."""
        if step.name in self._runs:
            self._runs[step.name].stopped.set()

    def kill(self) -> None:
        """End them all at once."""
        self.killed.set()
        for run in self._runs.values():
            run.thread.join(_END_SECONDS)


def _ended(step: Step, how: StandInEnd) -> Ended:
    if how.stopped:
        return Ended(end=End(state=State.STOPPED))
    known = {"Arn": step.given.get("FunctionArn")} if "OutputParameters" in step.type.own else {}
    if how.reason:
        metadata = {step.type.metadata: known} if known else {}
        return Ended(end=End(state=State.FAILED, reason=how.reason, metadata=metadata))
    if "OutputParameters" not in step.type.own:
        return Ended(end=End(state=State.SUCCEEDED), answer=how.outputs)
    metadata = {step.type.metadata: {**known, "OutputParameters": listed_outputs(how.outputs)}}
    answer = {"OutputParameters": dict(how.outputs)}
    return Ended(end=End(state=State.SUCCEEDED, metadata=metadata), answer=answer)

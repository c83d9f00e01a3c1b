"""Stand-ins of steps while an execution runs, each in a thread of the leader."""

from collections.abc import Callable, Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.pipelines.callback_steps import Ended
from smlocal.pipelines.planning import spoken_stand_in
from smlocal.sagemaker.pipelines.deciding import End, State
from smlocal.sagemaker.pipelines.definition import StandIn, Step


@dataclass(kw_only=True, slots=True)
class RunningStandIns:
    """Of one execution."""

    stand_ins: Mapping[str, StandIn]
    """By the names of steps as they are written."""
    done: dict[str, Ended]
    wake: Callable[[], None]

    def has(self, step: Step) -> bool:
        """True if something stands in for the step."""
        return step.given["Name"] in self.stand_ins

    def spoken(self, step: Step) -> str:
        """What does."""
        return spoken_stand_in(self.stand_ins[step.given["Name"]])

    def begin(self, step: Step, arguments: Mapping[str, Any], attempt: int) -> None:
        """Run it."""
        stand_in = self.stand_ins[step.given["Name"]]
        self.done[step.name] = ended(step, stand_in.outputs or {})

    def look(self, step: Step) -> Ended | None:
        """How it has ended; None if it runs."""
        return self.done.pop(step.name, None)

    def stop(self, step: Step) -> None:
        """Stop it."""

    def kill(self) -> None:
        """Kill them all."""


def ended(step: Step, outputs: Mapping[str, Any]) -> Ended:
    """The end of a step with these outputs."""
    if "OutputParameters" not in step.type.own:
        return Ended(end=End(state=State.SUCCEEDED), answer=outputs)
    listed = [{"Name": name, "Value": str(value)} for name, value in outputs.items()]
    known = {"Arn": step.given.get("FunctionArn"), "OutputParameters": listed}
    metadata = {step.type.metadata: {name: value for name, value in known.items() if value is not None}}
    return Ended(end=End(state=State.SUCCEEDED, metadata=metadata), answer={"OutputParameters": dict(outputs)})

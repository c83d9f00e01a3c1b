"""Callback steps: a message with a token, and the answer that somebody gives to the token."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.pipelines.deciding import End, State
from smlocal.sagemaker.pipelines.definition import Step
from smlocal.sagemaker.pipelines.names import letters_of
from smlocal.sagemaker.pipelines.stored import CALLBACK, StoredStep, answer_command, answer_document
from smlocal.sagemaker.pipelines.values import printed

_LENGTH: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a step that no job does has ended."""

    end: End
    answer: Mapping[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Callbacks:
    """Of one execution."""

    store: Store
    job: str
    run_id: str
    arn: str
    queue: str | None
    """The user's own queue, if the messages go there."""
    send: Callable[[str, Mapping[str, Any]], str | None]
    """Sends a message to a queue; returns why it could not."""
    say: Callable[[str], None]

    def begin(self, step: Step, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Make the token, and send the message; returns what is stored. May be called again for the same step."""
        token = letters_of(f"{self.arn}/{self.run_id}/{step.name}", _LENGTH)
        resource = StoredResource(
            kind=CALLBACK,
            name=token,
            arn="",
            created=time.time(),
            modified=time.time(),
            body={"Job": self.job, "Step": step.name},
        )
        self.store.add_resource(resource)
        message = self._message(token, arguments, "Executing")
        waits: dict[str, Any] = {
            "Token": token,
            "Message": message,
            "QueueUrl": step.given.get("SqsQueueUrl"),
            "Outputs": [{"Name": each.name, "Type": each.kind} for each in step.outputs],
        }
        self._tell(step.name, waits)
        return waits

    def stop(self, stored: StoredStep) -> dict[str, Any]:
        """Send the message that the execution is stopped; it must be answered too."""
        waits = dict(stored.waits or {})
        waits["Message"] = {**waits["Message"], "status": "Stopping"}
        self._tell(stored.listed.name, waits)
        self.say(f"{stored.listed.name} must be answered first; to end it now: smlocal stop {self.job} --grace 0")
        return waits

    def look(self, stored: StoredStep, state: State) -> Ended | None:
        """The answer, if there is one."""
        if stored.waits is None:  # the leader died between the two
            return None
        answer = self.store.document(self.job, answer_document(stored.waits["Token"]))
        if answer is None:
            return None
        if state is State.STOPPING:
            return Ended(end=End(state=State.STOPPED))
        if "FailureReason" in answer:
            return Ended(end=End(state=State.FAILED, reason=answer["FailureReason"]))
        outputs = answer["OutputParameters"]
        metadata = self.metadata(stored, outputs)
        return Ended(end=End(state=State.SUCCEEDED, metadata=metadata), answer={"OutputParameters": outputs})

    def metadata(self, stored: StoredStep, outputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Of the step, for ListPipelineExecutionSteps."""
        waits = stored.waits or {}
        listed = listed_outputs(outputs or {})
        known = {"CallbackToken": waits["Token"], "SqsQueueUrl": waits.get("QueueUrl"), "OutputParameters": listed}
        return {"Callback": {name: value for name, value in known.items() if value is not None}}

    def forget(self, stored: StoredStep) -> None:
        """The token leads nowhere any more."""
        if stored.waits is not None:
            self.store.change_resource(CALLBACK, stored.waits["Token"], lambda _: None, at=time.time())

    def _message(self, token: str, arguments: Mapping[str, Any], status: str) -> dict[str, Any]:
        return {"token": token, "pipelineExecutionArn": self.arn, "status": status, "arguments": dict(arguments)}

    def _tell(self, name: str, waits: Mapping[str, Any]) -> None:
        if self.queue is not None:
            why = self.send(self.queue, waits["Message"])
            if why is None:
                return
            self.say(f"{name}: the message could not be sent to {self.queue}: {why}")
        self.say(f"{name} waits for an answer: {answer_command(waits)}")


def listed_outputs(outputs: Mapping[str, Any]) -> list[dict[str, str]]:
    """The outputs of a step, as its metadata has them."""
    return [{"Name": name, "Value": printed(value)} for name, value in outputs.items()]

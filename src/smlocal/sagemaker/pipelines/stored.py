"""What is stored of an execution, and read by whoever shows it, without its definition."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors.of_commands import CallbackAnswerError, CallbackUnknownError
from smlocal.jobs import documents
from smlocal.jobs.control.requests import wake
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.sagemaker.pipelines.deciding import Progress
from smlocal.sagemaker.pipelines.listing import Listed
from smlocal.sagemaker.pipelines.parameters import typed
from smlocal.sagemaker.pipelines.recording import recalled, recorded
from smlocal.terms.statuses import JobStatus

STATE: Final = "pipeline"
"""The document of an execution: the names of the steps that have begun, its status, the items of each ForEach."""
OUTLINE: Final = "Outline"
"""In the details of the plan of an execution: its parameters and steps, and what they cost at most."""
CLIENT: Final = "pipeline-client"
"""The document with the rights of the client that has started it; none for executions of this machine's user."""
RETRY: Final = "pipeline-retry"
"""With a job that goes on with an execution that had ended: when that was first made, and the client's token."""
STEP_OF: Final = documents.STEP_OF
CALLBACK: Final = "callback"
"""The kind of the resource that leads from the token of a Callback to its step."""
_STATUSES: Final = {
    JobStatus.IN_PROGRESS: "Executing",
    JobStatus.COMPLETED: "Succeeded",
    JobStatus.FAILED: "Failed",
    JobStatus.STOPPING: "Stopping",
    JobStatus.STOPPED: "Stopped",
}


def step_document(name: str) -> str:
    """The kind of the document of a step."""
    return f"step-{name}"


def answer_document(token: str) -> str:
    """The kind of the document with the answer to a callback: `OutputParameters`, or a `FailureReason`."""
    return f"answer-{token}"


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredStep:
    """A step that has begun."""

    listed: Listed
    arguments: Any = None
    """As they were evaluated; None if they were not."""
    answer: Mapping[str, Any] | None = None
    """What other steps can refer to, once it has ended."""
    cache: Mapping[str, Any] | None = None
    """`Source` of a hit, or `Why` there was none, with `Compared` and `Changes` (`Key`, `Before`, `After`)."""
    waits: Mapping[str, Any] | None = None
    """Of a Callback: its message, with the token."""
    note: str = ""
    """What stood in for it."""
    job: str = ""
    """The name of what the last attempt has made: a job, a model, an endpoint."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """The locations that it has written, and where that is on this machine."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """A digest of what lay at each location that it reads, if the cache looks at that."""

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return self.listed.progress

    def document(self) -> dict[str, Any]:
        """To be stored."""
        known = {
            "Type": self.listed.type,
            "DisplayName": self.listed.display_name,
            "Description": self.listed.description,
            "Arguments": self.arguments,
            "Answer": self.answer,
            "Cache": self.cache,
            "Waits": self.waits,
            "Note": self.note or None,
            "Job": self.job or None,
            "Folders": dict(self.folders) or None,
            "Contents": dict(self.contents) or None,
        }
        given = {name: value for name, value in known.items() if value is not None}
        return {**given, "Progress": recorded(self.listed.progress)}


def stored_step(name: str, document: Mapping[str, Any]) -> StoredStep:
    """A step, as its document has it."""
    return StoredStep(
        listed=Listed(
            name=name,
            type=document["Type"],
            display_name=document.get("DisplayName"),
            description=document.get("Description"),
            progress=recalled(document["Progress"]),
        ),
        arguments=document.get("Arguments"),
        answer=document.get("Answer"),
        cache=document.get("Cache"),
        waits=document.get("Waits"),
        note=document.get("Note", ""),
        job=document.get("Job", ""),
        folders=document.get("Folders", {}),
        contents=document.get("Contents", {}),
    )


def state_document(names: Iterable[str], items: Mapping[str, Any], *, status: str, stopping: bool) -> dict[str, Any]:
    """The document of an execution."""
    return {"Names": list(names), "Items": dict(items), "Status": status, "Stopping": stopping}


def read_steps(store: Store, name: str) -> dict[str, StoredStep]:
    """The steps of an execution that have begun, in the order in which they did."""
    names = (store.document(name, STATE) or {}).get("Names", [])
    documents = store.read(name, [step_document(each) for each in names]).documents
    found = [(each, documents.get(step_document(each))) for each in names]
    return {each: stored_step(each, document) for each, document in found if document is not None}


def status_of(record: JobRecord, state: Mapping[str, Any] | None) -> str:
    """The service's status of an execution."""
    stored = (state or {}).get("Status", "")
    if record.status is JobStatus.COMPLETED and stored == "CompletedWithFailures":
        return str(stored)
    return _STATUSES[record.status]


def described(stored: StoredJob) -> dict[str, Any]:
    """The DescribePipelineExecution answer, of the documents `request`, `STATE` and `RETRY`."""
    record, request = stored.record, stored.documents[REQUEST]
    known = {
        "PipelineArn": record.arn.partition("/execution/")[0],
        "PipelineExecutionArn": record.arn,
        "PipelineExecutionDisplayName": request.get("PipelineExecutionDisplayName"),
        "PipelineExecutionStatus": status_of(record, stored.documents.get(STATE)),
        "PipelineExecutionDescription": request.get("PipelineExecutionDescription"),
        "FailureReason": record.failure_reason,
        "CreationTime": (stored.documents.get(RETRY) or {}).get("Created", record.created),
        "LastModifiedTime": record.modified,
        "ParallelismConfiguration": request.get("ParallelismConfiguration"),
        "SelectiveExecutionConfig": request.get("SelectiveExecutionConfig"),
        "PipelineExperimentConfig": request.get("PipelineExperimentConfig"),
        "PipelineVersionId": request.get("PipelineVersionId"),
        "RoleArn": request.get("RoleArn"),
    }
    return {name: value for name, value in known.items() if value is not None}


# The answer to a Callback.


def answer_command(waits: Mapping[str, Any]) -> str:
    """The command that lets a step succeed, with what is stored of its message."""
    outputs = "".join(f" --output {each['Name']}=VALUE" for each in waits.get("Outputs", ()))
    return f"smlocal pipeline succeed {waits['Token']}{outputs}"


def answer_callback(
    store: Store,
    token: str,
    *,
    outputs: Mapping[str, Any] | None = None,
    reason: str | None = None,
    request: str = "",
) -> str:
    """Answer the step that waits with this token: it succeeds with `outputs`, or fails with `reason`.

    Returns the ARN of its execution. The answer is stored; the leader of the execution takes it when it runs. `request`
    is the client's own token: the same one may answer twice. `CallbackUnknownError`, `CallbackAnswerError`.
    """
    waiting = store.resource(CALLBACK, token)
    if waiting is None:
        for record, answered in store.jobs_with(answer_document(token)):
            if request and answered.get("Request") == request:
                return record.arn
        raise _unknown(token, "No step that runs has it. A step's token is in its message, and in smlocal describe.")
    job, step = waiting.body["Job"], waiting.body["Step"]
    waits = (store.document(job, step_document(step)) or {}).get("Waits") or {}
    if reason is None:
        answer: dict[str, Any] = {"OutputParameters": _checked_outputs(outputs or {}, waits, step)}
    else:
        answer = {"FailureReason": reason}
    answer["Request"] = request
    stored = store.change_document(job, answer_document(token), lambda before: answer if before is None else before)
    if stored is not answer and not (request and stored.get("Request") == request):
        raise _unknown(token, f"The step {step} was answered already.")
    wake(store, job)
    return store.get(job).arn


def _unknown(token: str, why: str) -> CallbackUnknownError:
    return CallbackUnknownError(f"no step waits for an answer with the token {token}", remedy=[why])


def _checked_outputs(given: Mapping[str, Any], waits: Mapping[str, Any], step: str) -> dict[str, Any]:
    """Each of the type that the step says."""
    kinds = {each["Name"]: each["Type"] for each in waits.get("Outputs") or ()}
    values = {name: typed(kinds[name], value) for name, value in given.items() if name in kinds}
    wrong = [f"it has no output '{name[:80]}'" for name in given if name not in kinds]
    wrong += [f"the output '{name}' is of type {kinds[name]}" for name, value in values.items() if value is None]
    wrong += [f"the output '{name}' is missing" for name in kinds if name not in given]
    if wrong:
        known = f"It has {', '.join(f'{name} ({kind})' for name, kind in kinds.items())}." if kinds else "It has none."
        raise CallbackAnswerError(
            f"these are not the outputs of the step {step}: {'; '.join(wrong[:10])}",
            remedy=[f"{known} Answer with:  {answer_command(waits)}"] if waits else [known],
        )
    return values

"""What is stored of an execution, and read by whoever shows it, without its definition."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs import documents
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.sagemaker.pipelines.deciding import Progress
from smlocal.sagemaker.pipelines.listing import Listed
from smlocal.sagemaker.pipelines.recording import recalled, recorded
from smlocal.terms.statuses import JobStatus

STATE: Final = "pipeline"
"""The document of an execution: the names of the steps that have begun, its status, the items of each ForEach."""
CLIENT: Final = "pipeline-client"
"""The document with the rights of the client that has started it; none for executions of this machine's user."""
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
    folders: Mapping[str, str] = field(default_factory=dict)
    """The locations that it has written, and where that is on this machine."""

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
            "Folders": dict(self.folders) or None,
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
        folders=document.get("Folders", {}),
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
    """The DescribePipelineExecution answer, of the documents `request` and `STATE`."""
    record, request = stored.record, stored.documents[REQUEST]
    known = {
        "PipelineArn": record.arn.partition("/execution/")[0],
        "PipelineExecutionArn": record.arn,
        "PipelineExecutionDisplayName": request.get("PipelineExecutionDisplayName"),
        "PipelineExecutionStatus": status_of(record, stored.documents.get(STATE)),
        "PipelineExecutionDescription": request.get("PipelineExecutionDescription"),
        "FailureReason": record.failure_reason,
        "CreationTime": record.created,
        "LastModifiedTime": record.modified,
        "ParallelismConfiguration": request.get("ParallelismConfiguration"),
        "SelectiveExecutionConfig": request.get("SelectiveExecutionConfig"),
        "PipelineVersionId": request.get("PipelineVersionId"),
    }
    return {name: value for name, value in known.items() if value is not None}

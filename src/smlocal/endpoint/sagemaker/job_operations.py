"""The operations on the jobs of one kind that clients make: the same for all kinds but for what a record says."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field
from typing import Any, Final

from smlocal.api.removing import remove
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.aws_calls import Handler
from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.endpoint.sagemaker.named_jobs import NamedJobs
from smlocal.endpoint.sagemaker.pages import page_of, take_jobs
from smlocal.endpoint.sagemaker.request_folders import local_block
from smlocal.endpoint.serving import Serving
from smlocal.errors import (
    InstanceLimitError,
    JobNotFinishedError,
    JobUnknownError,
    NameInUseError,
    RequestInvalidError,
    RequestRefusedError,
    SmlocalError,
)
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_reading import AskedJob
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.finish.describe import list_entry
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.scheduler import WaitingJob, record_waiting

Read = Callable[[Serving, AwsCall, ExitStack], AskedJob]
"""Reads the request of a call: what is valid. What it makes is removed by the stack if the job is not recorded."""
_NOT_LISTED: Final = "FailureReason"


@dataclass(frozen=True, kw_only=True, slots=True)
class JobOperations:
    """Those of one kind."""

    jobs: NamedJobs
    read: Read
    deleted: bool = True
    """True if the service deletes such jobs."""
    lists_reasons: bool = True
    """True if a list says why jobs have failed."""
    others: Mapping[str, Handler] = field(default_factory=dict)
    """Operations that only this kind has, or that it does in another way."""

    @property
    def handlers(self) -> dict[str, Handler]:
        """All of them, by their names."""
        stem = self.jobs.kind.stem
        found: dict[str, Handler] = {
            f"Create{stem}": self.create,
            f"Describe{stem}": self.jobs.describe,
            f"List{stem}s": self.list,
            f"Stop{stem}": self.jobs.stop,
        }
        if self.deleted:
            found[f"Delete{stem}"] = self.delete
        return {**found, **self.others}

    def create(self, serving: Serving, call: AwsCall) -> dict[str, Any]:
        """Record the job, and answer. It is started by a process of its own."""
        jobs = self.jobs
        with ExitStack() as stack:
            asked = self.read(serving, call, stack)
            name = call.parameters.get(jobs.name_member)
            if name is None:
                raise jobs.without_name()
            try:
                record = start(serving, jobs.kind.waiting_job(asked, name), name=name)
            except NameInUseError:
                raise jobs.in_use(serving, name) from None
            except InstanceLimitError as error:
                raise ServiceError("ResourceLimitExceeded", error.sentence) from None
            except RequestRefusedError as error:
                raise validation_error(in_one_line(error)) from None
        return {f"{jobs.kind.stem}Arn": record.arn}

    def list(self, serving: HasStore, call: AwsCall) -> dict[str, Any]:
        """One page of them."""
        return page_of(
            take_jobs(serving, call.parameters, platform=self.jobs.kind.name),
            call.parameters,
            member=f"{self.jobs.kind.stem}Summaries",
            summary=lambda record: self._summary(serving, record),
            status=lambda record: record.status,
        )

    def _summary(self, serving: HasStore, record: JobRecord) -> dict[str, Any]:
        _, entry = list_entry(serving.store, record)
        left_out = set() if self.lists_reasons else {_NOT_LISTED}
        return {name: value for name, value in entry.items() if value is not None and name not in left_out}

    def delete(self, serving: Serving, call: AwsCall) -> dict[str, Any]:
        """Remove a job that has ended. Its output, and jobs that it has made, stay."""
        name = self.jobs.called(serving, call).name
        try:
            remove(serving.store, name, stop=False, force=False, abandon=False, on_message=serving.log)
        except JobUnknownError:
            raise self.jobs.unknown(call) from None
        except JobNotFinishedError:
            status = serving.store.get(name).status
            text = f"The request was rejected because the {self.jobs.kind.spoken} is in status {status}."
            raise validation_error(text) from None
        return {}


def start(serving: Serving, waiting: WaitingJob, *, name: str, documents: Mapping[str, Any] | None = None) -> JobRecord:
    """Record a job, and have it started. `documents`: more to store. The errors are those of `record_waiting`."""
    record = record_waiting(
        waiting,
        name=name,
        store=serving.store,
        limit=serving.options.limit,
        documents={**serving.with_jobs, **(documents or {})},
    )
    serving.waiting_jobs.look()
    serving.submitted(name)
    return record


def request_document(serving: Serving, call: AwsCall) -> Document:
    """The request of a call, with the `Local` block that a client may have."""
    document = Document(dict(call.parameters), name="request", directory=serving.directory)
    limit_to_rights(serving, document, region=call.region)
    return document


def limit_to_rights(serving: Serving, document: Document, *, region: str) -> None:
    """Give the document the `Local` block that a client of this server may have; `ServiceError` if it asks for more."""
    document.data[LOCAL] = {**local_block(serving, document.data), "Region": region}


@contextmanager
def refusals_answered() -> Iterator[None]:
    """Answer the errors of a block that reads a request, as the service does if smlocal knows its words."""
    try:
        yield
    except RequestInvalidError as error:
        raise validation_error(error.service_message or in_one_line(error)) from None
    except SmlocalError as error:
        raise validation_error(in_one_line(error)) from None


def in_one_line(error: SmlocalError) -> str:
    """The sentence with its details and remedies."""
    return "; ".join([error.with_details, *error.remedy])

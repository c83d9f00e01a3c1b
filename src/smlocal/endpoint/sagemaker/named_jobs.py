"""The jobs of one kind as clients name them: found, described and stopped.

All that is needed is a store, so the endpoint of debugger rules has them too.
"""

from typing import Any

from smlocal.api.stopping import stop
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.errors import JobFinishedError, JobUnknownError
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.kind import Kind
from smlocal.jobs.store.records import JobRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedJobs:
    """One kind, in the service's words."""

    kind: Kind
    in_use_text: str = (
        "Job name must be unique within an AWS account and region, and a job with this name already exists ({arn})"
    )
    """About a new job whose `name` a job with this `arn` has."""
    unknown_text: str = "Could not find requested job with name: {name}"
    """About a name that no job has."""
    ended_text: str = ""
    """Refuses to stop a job that has this `status`; without it, the job's own words do."""

    @property
    def name_member(self) -> str:
        """The member of a call with the name of the job."""
        return f"{self.kind.stem}Name"

    def called(self, serving: HasStore, call: AwsCall) -> JobRecord:
        """The job that a call names, also as its ARN does, in lower case. Jobs of other kinds are not known."""
        name = call.parameters[self.name_member]
        try:
            record = serving.store.get(name)
        except JobUnknownError:
            there = serving.store.in_any_case(name)
            if there is None:
                raise self.unknown(call) from None
            record = there
        if record.platform != self.kind.name:
            raise self.unknown(call)
        return record

    def unknown(self, call: AwsCall) -> ServiceError:
        """The answer about a name that no job has: the one that waiters of botocore expect."""
        return validation_error(self.unknown_text.format(name=call.parameters[self.name_member]))

    def in_use(self, serving: HasStore, name: str) -> ServiceError:
        """The answer about a new job whose name a job has."""
        return ServiceError("ResourceInUse", self.in_use_text.format(name=name, arn=serving.store.get(name).arn))

    def without_name(self) -> ServiceError:
        """The answer to a request without a name."""
        member = self.name_member[0].lower() + self.name_member[1:]
        return validation_error(
            f"1 validation error detected: Value null at '{member}' failed to satisfy constraint: "
            "Member must not be null"
        )

    def describe(self, serving: HasStore, call: AwsCall) -> dict[str, Any]:
        """Exactly the members of the service."""
        return describe_job(serving.store, self.called(serving, call).name, service=True)

    def stop(self, serving: HasStore, call: AwsCall) -> dict[str, Any]:
        """Answers once the stop is recorded."""
        name = self.called(serving, call).name
        try:
            stop(serving.store, name, grace=None, on_message=lambda _: None)
        except JobUnknownError:
            raise self.unknown(call) from None
        except JobFinishedError as error:
            said = error.sentence
            if self.ended_text:
                said = self.ended_text.format(status=serving.store.get(name).status)
            raise validation_error(said) from None
        return {}

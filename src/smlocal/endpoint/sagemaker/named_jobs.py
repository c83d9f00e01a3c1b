"""What is the same for jobs of all kinds but training jobs: found by their names, described and stopped."""

from typing import Any

from smlocal.api.stopping import stop
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import AwsCall, HasStore, ServiceError, validation_error
from smlocal.errors import JobFinishedError, JobUnknownError
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.store.records import JobRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedJobs:
    """The jobs of one kind."""

    platform: str
    member: str
    """Of a call, which has the name of the job."""
    ended: str = ""
    """Refuses to stop a job that has this `status`; without it, the job's own words do."""

    def called(self, serving: HasStore, call: AwsCall) -> JobRecord:
        """The job that a call names."""
        name = call.parameters[self.member]
        try:
            record = serving.store.get(name)
        except JobUnknownError:
            raise self.unknown(call) from None
        if record.platform != self.platform:
            raise self.unknown(call)
        return record

    def unknown(self, call: AwsCall) -> ServiceError:
        """The answer about a name that no job has."""
        return validation_error(f"Could not find requested job with name: {call.parameters[self.member]}")

    def in_use(self, serving: HasStore, call: AwsCall) -> ServiceError:
        """The answer about a new job whose name a job has."""
        return ServiceError(
            "ResourceInUse",
            "Job name must be unique within an AWS account and region, and a job with this name already exists "
            f"({serving.store.get(call.parameters[self.member]).arn})",
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
            said = self.ended.format(status=serving.store.get(name).status) if self.ended else error.sentence
            raise validation_error(said) from None
        return {}

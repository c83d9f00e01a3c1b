"""The needs of a supervisor that runs a job, as the platform has prepared it."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.engines import Engines
from smlocal.jobs.planning.model import JobPlan, RecordedPlan

if TYPE_CHECKING:
    from smlocal.jobs.credential_endpoint import CredentialEndpoint


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFiles:
    """Paths that the user has chosen; absolute."""

    result: str | None = None
    """The path for the describe answer."""
    junit: str | None = None

    @classmethod
    def at(cls, *, result: str | None, junit: str | None) -> "ReportFiles | None":
        """None if nothing is to be written. Paths are relative to the current folder."""
        if result is None and junit is None:
            return None
        return cls(
            result=None if result is None else os.path.abspath(result),
            junit=None if junit is None else os.path.abspath(junit),
        )

    def as_document(self) -> dict[str, str | None]:
        """To be recorded with the job."""
        return {"Result": self.result, "JUnit": self.junit}


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedPlan:
    """The needs of a supervisor that runs a job of any kind."""

    plan: RecordedPlan
    job: Mapping[str, Any]
    """The job file, from which the plan can be made again."""
    report_files: ReportFiles | None = None
    """The files to write when the job has ended."""

    def ready(self) -> AbstractContextManager[None]:
        """Whatever has to be there while the job runs; entered before it is recorded."""
        return nullcontext()


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared(PreparedPlan):
    """The needs of a supervisor that runs a job with containers."""

    plan: JobPlan
    pull_refused: str | None = None
    """Why the image could not be pulled. The job fails with it, as on the service."""
    credentials: "CredentialEndpoint | None" = None
    """For the containers, if they get credentials. It is not open yet."""

    def ready(self) -> AbstractContextManager[None]:
        """The credentials, which can show what this machine lacks."""
        return nullcontext() if self.credentials is None else self.credentials.ready()


def credentials_of(plan: JobPlan, engines: Engines) -> "CredentialEndpoint | None":
    """The server of the containers' credentials, if they get any. It is not open yet."""
    if plan.credentials is None:
        return None
    from smlocal.jobs.credential_endpoint import CredentialEndpoint  # few jobs have one

    return CredentialEndpoint.of(plan, engines.first)


def find_credentials(plan: JobPlan, engines: Engines) -> "CredentialEndpoint | None":
    """The same with the first keys, for a new job; raises what this machine or the request lacks."""
    endpoint = credentials_of(plan, engines)
    if endpoint is not None:
        endpoint.find(plan)
    return endpoint

"""Notes on the AWS credentials of the containers."""

from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.jobs.planning.workload import Workload


def _role(plan: JobPlan, work: Workload) -> str | None:
    if not work.role or plan.credentials is not None:
        return None
    return f"{work.role_member} is recorded; the container gets no credentials"


def _credentials(plan: JobPlan, work: Workload) -> str | None:
    if plan.credentials is None:
        if work.local.Credentials == "none":
            return None
        return "EnableNetworkIsolation: the container gets no credentials; Local.Credentials is ignored"
    if plan.credentials.mode == "inherit":
        return (
            f"the container gets your own AWS credentials and permissions; on the service, those of {work.role_member}"
        )
    return f"the container gets credentials of {work.role_member}, which you assume; smlocal uses your own for S3"


CREDENTIAL_RULES = (
    NoteRule(id="role", says=_role),
    NoteRule(id="credentials", says=_credentials),
)

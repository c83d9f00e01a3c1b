"""Notes on the AWS credentials of the containers."""

from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.sagemaker.jobfile.job_file import JobFile


def _member(plan: JobPlan) -> str:
    """The member of a request that names the role."""
    return "RoleArn" if plan.serving is None else "ExecutionRoleArn"


def _role(plan: JobPlan, job: JobFile) -> str | None:
    if not job.request.RoleArn or plan.credentials is not None:
        return None
    return f"{_member(plan)} is recorded; the container gets no credentials"


def _credentials(plan: JobPlan, job: JobFile) -> str | None:
    if plan.credentials is None:
        if job.local.Credentials == "none":
            return None
        return "EnableNetworkIsolation: the container gets no credentials; Local.Credentials is ignored"
    if plan.credentials.mode == "inherit":
        return f"the container gets your own AWS credentials and permissions; on the service, those of {_member(plan)}"
    return f"the container gets credentials of {_member(plan)}, which you assume; smlocal uses your own for S3"


CREDENTIAL_RULES = (
    NoteRule(id="role", says=_role),
    NoteRule(id="credentials", says=_credentials),
)

"""Notes on the AWS credentials of the containers."""

from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.sagemaker.jobfile.job_file import JobFile


def _role(plan: JobPlan, job: JobFile) -> str | None:
    if not job.request.RoleArn or plan.credentials is not None:
        return None
    return "RoleArn is recorded; the container gets no credentials"


def _credentials(plan: JobPlan, job: JobFile) -> str | None:
    if plan.credentials is None:
        if job.local.Credentials == "none":
            return None
        return "EnableNetworkIsolation: the container gets no credentials; Local.Credentials is ignored"
    if plan.credentials.mode == "inherit":
        return "the container gets your own AWS credentials and permissions; on the service, those of RoleArn"
    return "the container gets credentials of RoleArn, which you assume; smlocal uses your own for S3"


CREDENTIAL_RULES = (
    NoteRule(id="role", says=_role),
    NoteRule(id="credentials", says=_credentials),
)

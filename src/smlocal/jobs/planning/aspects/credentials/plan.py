"""The AWS credentials that the containers get."""

from typing import TYPE_CHECKING

from smlocal.base.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.jobfile.settings import LocalSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class CredentialPlan:
    """The AWS credentials that the containers get."""

    mode: str
    """`inherit`: those of the user; `role`: those of the job's role."""
    role_arn: str
    """From the request; may be empty."""
    session: str
    """The name of the session at that role, which is shown in messages about denied access."""


def credentials_of(local: "LocalSettings", *, role_arn: str, session: str, isolated: bool) -> CredentialPlan | None:
    """None with network isolation, as on the service."""
    if local.Credentials == "none" or isolated:
        return None
    return CredentialPlan(mode=local.Credentials, role_arn=role_arn, session=session)

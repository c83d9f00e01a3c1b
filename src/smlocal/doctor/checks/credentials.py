"""Whether there are AWS credentials. Only S3, ECR and containers that call AWS need them."""

from collections.abc import Mapping

from smlocal.contract.clock import CLOCK_REMEDY, is_wrong_clock
from smlocal.doctor.aws_identity import AwsIdentity
from smlocal.doctor.finding import Finding, fine, warning
from smlocal.doctor.machine import Machine
from smlocal.sources.s3.aws_session import Profile, read_profile

_LOG_IN = "Log in:  aws sso login, aws configure, or set AWS_PROFILE. Jobs with local data need none."
_ELSEWHERE = ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI")


def check(machine: Machine) -> Finding:
    """Look where they would come from. Only --online uses them."""
    if machine.online:
        return judge_identity(machine.aws_identity)
    return judge(machine.environment, read_profile())


def judge(environment: Mapping[str, str], profile: Profile) -> Finding:
    """The credentials are neither shown nor tested."""
    if profile.named and not profile.exists:
        return warning(f"the profile {profile.name} is not in the AWS configuration files", _LOG_IN)
    origin = _origin(environment, profile)
    if origin is None:
        return warning("no AWS credentials: data in S3 and images in ECR cannot be read", _LOG_IN)
    return fine(f"{origin} (not tested; use --online)")


def _origin(environment: Mapping[str, str], profile: Profile) -> str | None:
    """Where botocore would find them, in its order."""
    if environment.get("AWS_ACCESS_KEY_ID") and environment.get("AWS_SECRET_ACCESS_KEY"):
        return "from the environment"
    if environment.get("AWS_WEB_IDENTITY_TOKEN_FILE"):
        return "by web identity"
    if any(key.startswith("sso_") for key in profile.settings):
        return f"profile {profile.name}, by single sign-on"
    if {"role_arn", "credential_process", "aws_access_key_id"} & {*profile.settings}:
        return f"profile {profile.name}"
    return "from the role of this container" if any(environment.get(name) for name in _ELSEWHERE) else None


def judge_identity(identity: AwsIdentity) -> Finding:
    """Whether AWS accepts them."""
    if identity.error:
        cure = CLOCK_REMEDY if is_wrong_clock(identity.error) else _LOG_IN
        return warning(f"AWS credentials do not work: {identity.error}", cure)
    return fine(f"AWS identifies you as {identity.arn}")

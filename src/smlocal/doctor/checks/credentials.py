"""Whether there are AWS credentials: only S3, ECR and what a container asks AWS for need them."""

from collections.abc import Mapping

from smlocal.contract.clock import CLOCK_REMEDY, is_wrong_clock
from smlocal.doctor.caller import Caller
from smlocal.doctor.interface import Finding, fine, warning
from smlocal.doctor.look import Look
from smlocal.sources.s3.aws_session import Profile, read_profile

_LOG_IN = "Log in:  aws sso login, aws configure, or set AWS_PROFILE. Jobs with local data need none."
_ELSEWHERE = ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI")


def check(look: Look) -> Finding:
    """Look where they would come from; only --online uses them."""
    if look.online:
        return judge_caller(look.caller)
    return judge(look.environment, read_profile())


def judge(environment: Mapping[str, str], profile: Profile) -> Finding:
    """Keys are not shown, and not tried."""
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


def judge_caller(caller: Caller) -> Finding:
    """What AWS says of them."""
    if caller.trouble:
        cure = CLOCK_REMEDY if is_wrong_clock(caller.trouble) else _LOG_IN
        return warning(f"AWS credentials do not work: {caller.trouble}", cure)
    return fine(f"AWS identifies you as {caller.arn}")

"""Where the containers' keys come from: the user who runs smlocal, or the job's role."""

from typing import Any

from smlocal.contract.clock import CLOCK_REMEDY, is_wrong_clock
from smlocal.errors import ClockWrongError, CredentialsMissingError, RoleNotAssumedError
from smlocal.sources.s3.aws_session import Credentials, caller_credentials, missing


def user_keys() -> Credentials:
    """The keys of the user who runs smlocal; raises `CredentialsMissingError`."""
    try:
        return caller_credentials()
    except CredentialsMissingError as error:
        raise _for_containers(error.details) from error


def role_keys(role_arn: str, region: str, *, session: str) -> Credentials:
    """Temporary keys of a role, which the user assumes at STS in this session; raises `RoleNotAssumedError`."""
    import botocore.session
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        # No types are published.
        client: Any = botocore.session.Session().create_client("sts", region_name=region)
        given = client.assume_role(RoleArn=role_arn, RoleSessionName=session)["Credentials"]
    except NoCredentialsError as error:
        raise _for_containers(()) from error
    except (BotoCoreError, ClientError, RuntimeError, ValueError, KeyError) as error:
        if is_wrong_clock(str(error)):
            raise ClockWrongError(
                f"the role {role_arn} cannot be assumed because the clock of this machine is wrong",
                details=(str(error),),
                remedy=(CLOCK_REMEDY,),
            ) from error
        raise RoleNotAssumedError(
            f"the role {role_arn} cannot be assumed",
            details=(str(error),),
            remedy=(
                "Allow your own identity in its trust policy: aws sts get-caller-identity shows it.",
                "Or run with your own credentials: --credentials inherit; or without: --credentials none.",
            ),
        ) from error
    return Credentials(
        access_key=given["AccessKeyId"],
        secret_key=given["SecretAccessKey"],
        token=given["SessionToken"],
        expires=given["Expiration"].timestamp(),
    )


def _for_containers(details: tuple[str, ...]) -> CredentialsMissingError:
    return CredentialsMissingError(
        "Local.Credentials needs AWS credentials, and none were found",
        details=details,
        remedy=(*missing().remedy, "Or run without any: --credentials none"),
    )

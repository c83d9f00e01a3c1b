"""The exceptions of botocore, as errors with a cause each."""

from smlocal.errors import (
    ClockWrongError,
    CredentialsMissingError,
    ServiceForbiddenError,
    ServiceJobUnknownError,
    ServiceRefusedError,
    ServiceUnreachableError,
    SmlocalError,
)
from smlocal.jobs.contract.clock import CLOCK_REMEDY, is_wrong_clock

_LOG_IN = (
    "Log in:  aws sso login, aws configure, or name another profile with --profile",
    "Or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for temporary ones)",
)
_FORBIDDEN = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AllAccessDisabled", "403"}
_NOT_CREDENTIALS = {
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "InvalidToken",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "NotAuthorized",
    "OptInRequired",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_LATER = {"ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded", "SlowDown"}
_SERVER_ERROR = 500
_OF_ONE_JOB = ("DescribeTrainingJob", "StopTrainingJob", "UpdateTrainingJob")


def service_error(error: Exception, *, title: str, action: str, region: str, job: str = "") -> SmlocalError:
    """What an exception of botocore means. `title`: the service, as people call it; `action`: as policies call it."""
    from botocore.exceptions import (
        ClientError,
        CredentialRetrievalError,
        NoCredentialsError,
        ParamValidationError,
        PartialCredentialsError,
        SSOError,
        TokenRetrievalError,
    )

    operation = action.partition(":")[2]
    if isinstance(error, ClientError):
        return _answered(error, title=title, action=action, region=region, job=job)
    if isinstance(
        error, CredentialRetrievalError | NoCredentialsError | PartialCredentialsError | SSOError | TokenRetrievalError
    ):
        return CredentialsMissingError(
            f"{title} needs AWS credentials, and they cannot be loaded", details=[str(error)], remedy=_LOG_IN
        )
    if isinstance(error, ParamValidationError):
        return ServiceRefusedError(
            f"{operation} is not sent: botocore finds a mistake in it", details=str(error).splitlines()[1:]
        )
    return ServiceUnreachableError(
        f"{title} does not answer in {region}",
        details=[str(error)],
        remedy=["Is the region right (--region), and is there a way to the internet from here (proxy, VPN)?"],
    )


def _answered(error: Exception, *, title: str, action: str, region: str, job: str) -> SmlocalError:
    """The service has answered with an error."""
    answer = getattr(error, "response", {})
    code, message = str(answer.get("Error", {}).get("Code", "")), str(answer.get("Error", {}).get("Message", ""))
    status = int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    operation = action.partition(":")[2]
    said = f"{operation}: {code}: {message}"
    if is_wrong_clock(f"{code} {message}"):
        return ClockWrongError(
            f"{title} refuses {operation}: the clock of this machine is wrong", details=[said], remedy=[CLOCK_REMEDY]
        )
    if code in _NOT_CREDENTIALS:
        return CredentialsMissingError(
            f"{title} does not accept the AWS credentials in {region}",
            details=[said],
            remedy=[*_LOG_IN, "A region that is not enabled in the account is refused with the same words."],
        )
    if code in _FORBIDDEN:
        return ServiceForbiddenError(
            f"the AWS credentials may not do {action}",
            details=[said],
            remedy=[f"Ask for {action}, or use another profile with --profile."],
            action=action,
        )
    if job and operation in _OF_ONE_JOB and (code == "ResourceNotFound" or "not found" in message):
        return ServiceJobUnknownError(
            f"there is no training job {job} in {region}",
            details=[said],
            remedy=["Is it in another region (--region), or in another account (--profile)?"],
        )
    if status >= _SERVER_ERROR or code in _LATER:
        return ServiceUnreachableError(
            f"{title} cannot answer {operation} now", details=[said], remedy=["Try again in a moment."]
        )
    return ServiceRefusedError(f"{title} refuses {operation}", details=[said], code=code, operation=operation)

"""The services of AWS that a job of the service needs, by botocore, with the user's own configuration."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import Any

from smlocal.data.sources.s3.aws_session import client_config, credentials_of, new_session
from smlocal.errors import (
    AwsConfigurationError,
    ClockWrongError,
    CredentialsMissingError,
    RegionMissingError,
    RegionNameError,
    ServiceForbiddenError,
    ServiceJobUnknownError,
    ServiceRefusedError,
    ServiceUnreachableError,
    SmlocalError,
)
from smlocal.jobs.kind import Kind
from smlocal.sagemaker.contract.identity import is_region_name
from smlocal.sagemaker.kinds import TRAINING
from smlocal.terms.clock import CLOCK_REMEDY, is_wrong_clock

_READ_TIMEOUT = 30.0
_TITLES = {
    "sagemaker": "SageMaker",
    "logs": "CloudWatch Logs",
    "cloudwatch": "CloudWatch",
    "ecr": "Amazon ECR",
    "s3": "S3",
    "sqs": "SQS",
    "sts": "STS",
}


class Service:
    """AWS as the user's credentials reach it. Nothing is read or sent before the first call; safe in threads."""

    def __init__(
        self,
        *,
        profile: str | None = None,
        region: str | None = None,
        endpoint_url: str | None = None,
        kind: Kind = TRAINING,
    ) -> None:
        """Without `profile` and `region`, the environment and the AWS configuration files decide, as for all of AWS.

        `kind`: of the jobs that the names given to `describe`, `stop` and `log_pages` are.
        """
        self.kind = kind
        self._profile, self._region, self._endpoint_url = profile, region, endpoint_url
        self._clients: dict[str, Any] = {}
        self._lock = Lock()

    @cached_property
    def region(self) -> str:
        """`RegionMissingError` if none is configured."""
        found = self._region or os.environ.get("AWS_REGION") or self._session.get_config_variable("region")
        if not found:
            raise RegionMissingError(
                "no AWS region is configured", remedy=["Name it with --region, AWS_REGION, or region in ~/.aws/config."]
            )
        if not is_region_name(found):
            raise RegionNameError(f"{found!r} is not a valid region", remedy=["Write it like us-east-1."])
        return str(found)

    @property
    def cli_options(self) -> str:
        """Options for the AWS CLI to reach the same: ` --region eu-west-1`, and a profile if it was given."""
        return f" --region {self.region}{f' --profile {self._profile}' if self._profile else ''}"

    @cached_property
    def _session(self) -> Any:
        return new_session(self._profile, needed_by="SageMaker")

    def client(self, service: str, *, region: str | None = None) -> Any:
        """The botocore client, such as that of `sagemaker`; `CredentialsMissingError` if there are no credentials."""
        key = f"{service} {region}"
        with self._lock:
            if key not in self._clients:
                self._clients[key] = self._new_client(service, region or self.region)
            return self._clients[key]

    def call(self, service: str, operation: str, *, region: str | None = None, **arguments: Any) -> dict[str, Any]:
        """The answer of an operation, such as `call("sagemaker", "DescribeTrainingJob", TrainingJobName=…)`.

        A failure is one of the errors of `service_errors`.
        """
        with self._asked(service, operation, region, arguments) as (client, method):
            answer: dict[str, Any] = getattr(client, method)(**arguments)
        return answer

    def pages(self, service: str, operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """The answers of an operation that answers in pages."""
        with self._asked(service, operation, None, arguments) as (client, method):
            yield from client.get_paginator(method).paginate(**arguments)

    @contextmanager
    def _asked(
        self, service: str, operation: str, region: str | None, arguments: dict[str, Any]
    ) -> Iterator[tuple[Any, str]]:
        """The client, and its name of the operation; a failure in the block becomes one of our errors."""
        from botocore import xform_name
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        client = self.client(service, region=region)
        try:
            yield client, xform_name(operation)
        except (BotoCoreError, ClientError, ResponseParserError) as error:
            raise self._error(error, service, operation, region, arguments) from error

    def describe(self, job: str) -> dict[str, Any]:
        """The answer of DescribeTrainingJob, or its equal; `ServiceJobUnknownError` if there is no such job."""
        return self.call("sagemaker", f"Describe{self.kind.stem}", **{self.kind.name_member: job})

    def stop(self, job: str) -> None:
        """Ask the service to stop a job."""
        self.call("sagemaker", f"Stop{self.kind.stem}", **{self.kind.name_member: job})

    def log_pages(self, operation: str, job: str) -> Iterator[dict[str, Any]]:
        """The answers of an operation on the log streams of a job."""
        return self.pages("logs", operation, logGroupName=self.kind.log_group, logStreamNamePrefix=f"{job}/")

    def tags(self, arn: str) -> list[dict[str, str]]:
        """The tags of a job."""
        return [tag for page in self.pages("sagemaker", "ListTags", ResourceArn=arn) for tag in page["Tags"]]

    def close(self) -> None:
        """Close idle connections."""
        with self._lock:
            for client in self._clients.values():
                client.close()
            self._clients.clear()

    def _error(
        self, error: Exception, service: str, operation: str, region: str | None, arguments: dict[str, Any]
    ) -> Exception:
        return service_error(
            error,
            title=_TITLES.get(service, service),
            action=f"{service}:{operation}",
            region=region or self.region,
            job=next((str(arguments[each]) for each in _JOB_NAMES if arguments.get(each)), ""),
        )

    def _new_client(self, service: str, region: str) -> Any:
        credentials_of(self._session, needed_by=_TITLES.get(service, service))
        config = client_config(self._session, read_timeout=_READ_TIMEOUT)
        try:
            return self._session.create_client(
                service, region_name=region, config=config, endpoint_url=self._endpoint_url
            )
        except ValueError as error:
            raise AwsConfigurationError(
                f"the endpoint of {_TITLES.get(service, service)} in the AWS configuration is not valid: {error}",
                remedy=[
                    f"Look at AWS_ENDPOINT_URL_{service.upper()}, AWS_ENDPOINT_URL and endpoint_url in ~/.aws/config."
                ],
            ) from error


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
_UNKNOWN = ("not found", "Could not find requested job")
_JOB_NAMES = (
    *("TrainingJobName", "ProcessingJobName", "HyperParameterTuningJobName"),
    *("PipelineName", "PipelineExecutionArn"),
)
_OF_ONE_JOB = {
    "DescribeTrainingJob": "training job",
    "StopTrainingJob": "training job",
    "UpdateTrainingJob": "training job",
    "DescribeProcessingJob": "processing job",
    "StopProcessingJob": "processing job",
    "DescribeHyperParameterTuningJob": "tuning job",
    "StopHyperParameterTuningJob": "tuning job",
    "DescribePipeline": "pipeline",
    "DescribePipelineExecution": "pipeline execution",
    "StopPipelineExecution": "pipeline execution",
}


def service_error(error: Exception, *, title: str, action: str, region: str, job: str = "") -> SmlocalError:
    """The meaning of an exception of botocore.

    `title`: the service, as people call it; `action`: as policies call it.
    """
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
    from smlocal.base.web import proxy_remedy

    return ServiceUnreachableError(
        f"{title} does not answer in {region}",
        details=[str(error)],
        remedy=[
            *proxy_remedy(os.environ),
            "Is the region right (--region), and is there a way to the internet from here (proxy, VPN)?",
        ],
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
    if job and operation in _OF_ONE_JOB and (code == "ResourceNotFound" or any(each in message for each in _UNKNOWN)):
        return ServiceJobUnknownError(
            f"there is no {_OF_ONE_JOB[operation]} {job} in {region}",
            details=[said],
            remedy=["Is it in another region (--region), or in another account (--profile)?"],
        )
    if status >= _SERVER_ERROR or code in _LATER:
        return ServiceUnreachableError(
            f"{title} cannot answer {operation} now", details=[said], remedy=["Try again in a moment."]
        )
    return ServiceRefusedError(f"{title} refuses {operation}", details=[said], code=code, operation=operation)

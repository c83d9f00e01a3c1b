"""Logins for images in Amazon ECR."""

import base64
import re
from typing import Any

from smlocal.contract.clock import CLOCK_REMEDY, is_wrong_clock
from smlocal.engine.interface import RegistryLogin
from smlocal.errors import ClockWrongError, CredentialsMissingError, RegistryUnreachableError

_NAME = re.compile(
    r"(?P<host>(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?)/."
)


def ecr_login(image: str) -> RegistryLogin | None:
    """Get a login for an ECR image with the user's AWS credentials; None for other images."""
    match = _NAME.match(image)
    if match is None:
        return None
    username, _, password = base64.b64decode(_token(image, match["region"])).decode().partition(":")
    return RegistryLogin(username=username, password=password, server=match["host"])


def _token(image: str, region: str) -> str:
    # boto3 publishes no types. Importing it takes 127 ms, only to pull an ECR image.
    import boto3
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        EndpointConnectionError,
        HTTPClientError,
    )

    try:
        client: Any = boto3.Session().client("ecr", region_name=region)
        answer = client.get_authorization_token()
        return str(answer["authorizationData"][0]["authorizationToken"])
    except (EndpointConnectionError, HTTPClientError) as error:
        raise RegistryUnreachableError(
            f"image {image} is not available locally, and Amazon ECR in {region} is unreachable",
            details=(str(error),),
            remedy=(f"Build or load it here:  docker build -t {image} .     or: docker load -i FILE",),
        ) from error
    except (BotoCoreError, ClientError) as error:
        if is_wrong_clock(str(error)):
            raise ClockWrongError(
                f"image {image} is not available locally, and Amazon ECR refuses a login: "
                "the clock of this machine is wrong",
                details=(str(error),),
                remedy=(CLOCK_REMEDY,),
            ) from error
        raise CredentialsMissingError(
            f"image {image} is not available locally, and pulling it from Amazon ECR needs valid AWS credentials",
            details=(str(error),),
            remedy=(
                "Log in:  aws sso login, aws configure, or set AWS_PROFILE",
                f"Or build or load it here:  docker build -t {image} .",
            ),
        ) from error

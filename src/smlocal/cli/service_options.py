"""The options that say which AWS account and region a command asks."""

from collections.abc import Callable
from typing import Any

import click


def service_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --profile and --region to a command."""
    for option in (
        click.option("--region", metavar="REGION", help="AWS region. Default: that of the AWS configuration."),
        click.option("--profile", metavar="PROFILE", help="AWS profile. Default: AWS_PROFILE, or the default one."),
    ):
        command = option(command)
    return command

"""For pytest in a checkout of SDK v2: images that its tests build are given, and the account has its usual bucket."""

import os
import sys
from contextlib import nullcontext, suppress
from types import ModuleType
from typing import Any

import boto3


def _without(name: str, **members: Any) -> None:
    """A module of limits and logs that the tests import besides: it is published without a wheel."""
    module = ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


_without("stopit", ThreadingTimeout=lambda *_, **__: nullcontext(), TimeoutException=TimeoutError)
_without("awslogs")
_without("awslogs.core", AWSLogs=None)


def pytest_collection_modifyitems() -> None:
    import tests.integ.sagemaker.conftest as builds  # type: ignore[import-not-found]  # the SDK's

    def given(*_: Any) -> str:
        return os.environ["FUNCTION_IMAGE"]

    builds._build_container = given


def pytest_sessionstart() -> None:
    session = boto3.Session(region_name="us-west-2")
    account = session.client("sts").get_caller_identity()["Account"]
    s3 = session.client("s3")
    with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
        s3.create_bucket(
            Bucket=f"sagemaker-us-west-2-{account}", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
        )

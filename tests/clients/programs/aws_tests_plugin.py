"""For pytest in a checkout of SDK v2: images that its tests build are given, and the account has its usual bucket."""

import os
from contextlib import suppress
from typing import Any

import boto3


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

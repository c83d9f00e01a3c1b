"""The AWS configuration counts as it does for botocore: where requests would go, and who would send them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.data.sources.s3.aws_client import AwsClient
from smlocal.data.sources.s3.aws_session import caller_credentials, profile_region, read_profile
from smlocal.errors import AwsConfigurationError, CredentialsMissingError

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
ACCESS_POINT = "arn:aws:s3:us-west-2:123456789012:accesspoint/name"
OBJECT_LAMBDA = "arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/name"

Configure = Callable[..., None]


@pytest.fixture(autouse=True)
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Both AWS files and the environment, and nothing of the user's own."""
    for name in [name for name in os.environ if name.startswith("AWS_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    files = {"AWS_CONFIG_FILE": tmp_path / "config", "AWS_SHARED_CREDENTIALS_FILE": tmp_path / "credentials"}
    for name, path in files.items():
        monkeypatch.setenv(name, str(path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")

    def with_(config: str = "", credentials: str = "", **environment: str) -> None:
        for path, text in zip(files.values(), (config, credentials), strict=True):
            path.write_text(text)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)

    return with_


@pytest.mark.parametrize(
    ("region", "environment", "bucket", "url", "signed"),
    [
        ("eu-west-1", {}, "bucket", "https://bucket.s3.eu-west-1.amazonaws.com/", "eu-west-1"),
        ("eu-west-1", {}, "dotted.bucket", "https://s3.eu-west-1.amazonaws.com/dotted.bucket/", "eu-west-1"),
        ("cn-north-1", {}, "bucket", "https://bucket.s3.cn-north-1.amazonaws.com.cn/", "cn-north-1"),
        (
            "eu-west-1",
            {},
            ACCESS_POINT,
            "https://name-123456789012.s3-accesspoint.us-west-2.amazonaws.com/",
            "us-west-2",
        ),
        (
            "eu-west-1",
            {},
            ACCESS_POINT.replace("/", ":"),
            "https://name-123456789012.s3-accesspoint.us-west-2.amazonaws.com/",
            "us-west-2",
        ),
        (
            "us-west-2",
            {"AWS_USE_DUALSTACK_ENDPOINT": "true"},
            "bucket",
            "https://bucket.s3.dualstack.us-west-2.amazonaws.com/",
            "us-west-2",
        ),
        (
            "us-west-2",
            {"AWS_USE_FIPS_ENDPOINT": "true"},
            "bucket",
            "https://bucket.s3-fips.us-west-2.amazonaws.com/",
            "us-west-2",
        ),
        (
            "x",
            {"AWS_ENDPOINT_URL": "http://h:1", "AWS_ENDPOINT_URL_S3": "http://i/base"},
            "b12",
            "http://i/base/b12/",
            "x",
        ),
    ],
)
def test_where_objects_are_asked_for(
    configure: Configure, region: str, environment: dict[str, str], bucket: str, url: str, signed: str
) -> None:
    configure(**KEYS, **environment)
    target = AwsClient(region, retry_seconds=5).target(bucket)
    assert target is not None
    assert (target.url, target.region, target.service) == (url, signed, "s3")


def test_an_access_point_of_another_service_is_signed_for_that(configure: Configure) -> None:
    configure(**KEYS)
    target = AwsClient("eu-west-1", retry_seconds=5).target(OBJECT_LAMBDA)
    assert target is not None
    assert target.url == "https://name-123456789012.s3-object-lambda.us-west-2.amazonaws.com/"
    assert (target.region, target.service) == ("us-west-2", "s3-object-lambda")


WITHOUT_AWSCRT = """
import sys
sys.modules["awscrt"] = None
from smlocal.terms.rights import EVERYTHING
from smlocal.data.sources.s3.client import open_store
from smlocal.data.sources.s3.interface import S3Error, S3Object
store = open_store("eu-west-1", rights=EVERYTHING, retry_seconds=600)
bucket = "arn:aws:s3::123456789012:accesspoint/mfzwi23gnjvgw.mrap"
read = lambda: store.read_into(S3Object(bucket=bucket, key="k"), 0, memoryview(bytearray(1)))
for ask in (read, lambda: next(store.list_objects(bucket, ""))):
    try:
        ask()
    except S3Error as error:
        print(error.code)
"""


@pytest.mark.slow(0.5)
def test_a_multi_region_access_point_without_awscrt_is_not_tried_again(configure: Configure) -> None:
    """In a process of its own: botocore looks for awscrt when it is imported."""
    configure(**KEYS)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_AWSCRT], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split() == ["MissingDependency"] * 2, done.stderr


def test_addressing_style_of_the_profile(configure: Configure) -> None:
    configure("[default]\ns3 =\n  addressing_style = path\n", **KEYS)
    target = AwsClient("eu-west-1", retry_seconds=5).target("bucket")
    assert target is not None
    assert target.url == "https://s3.eu-west-1.amazonaws.com/bucket/"


def test_buckets_with_session_keys_of_their_own_are_left_to_the_client(configure: Configure) -> None:
    configure(**KEYS)
    assert AwsClient("us-east-1", retry_seconds=5).target("some--use1-az4--x-s3") is None


PROFILES = "[profile one]\nregion = eu-west-1\n[profile two]\nregion = eu-west-2\n"


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"AWS_PROFILE": "one"}, "one"),
        ({"AWS_DEFAULT_PROFILE": "two"}, "two"),
        ({"AWS_PROFILE": "one", "AWS_DEFAULT_PROFILE": "two"}, "two"),
    ],
)
def test_which_profile(configure: Configure, environment: dict[str, str], name: str) -> None:
    keys = "".join(f"[{each}]\naws_access_key_id={each}\naws_secret_access_key=s\n" for each in ("one", "two"))
    configure(PROFILES, keys, **environment)
    profile = read_profile()
    assert (profile.name, profile.named, profile.exists) == (name, True, True)
    assert profile_region() == profile.region == {"one": "eu-west-1", "two": "eu-west-2"}[name]
    assert caller_credentials().access_key == name


def test_the_region_of_the_environment_comes_first(configure: Configure, tmp_path: Path) -> None:
    configure("[default]\nregion = eu-west-1\n")
    assert profile_region() == "eu-west-1"
    configure("[default]\nregion = eu-west-1\n", AWS_REGION="eu-west-2")
    assert profile_region() is None
    (tmp_path / "config").unlink()
    assert profile_region() is None


def test_a_program_that_gives_credentials(configure: Configure, tmp_path: Path) -> None:
    answer = '{"Version": 1, "AccessKeyId": "from", "SecretAccessKey": "program", "SessionToken": "token"}'
    (tmp_path / "program").write_text(f"#!/bin/sh\necho '{answer}'\n")
    (tmp_path / "program").chmod(0o755)
    configure(f"[profile p]\ncredential_process = {tmp_path}/program\n", AWS_PROFILE="p")
    found = caller_credentials()
    assert (found.access_key, found.secret_key, found.token) == ("from", "program", "token")
    assert "program" not in repr(found)


@pytest.mark.parametrize(
    ("config", "environment", "why"),
    [
        ("", {}, ""),
        ("", {"AWS_ACCESS_KEY_ID": "key"}, "secret"),
        ("", {**KEYS, "AWS_PROFILE": "nobody"}, "the profile nobody is not in the AWS configuration files"),
        (
            "[default]\nsso_start_url = https://x\nsso_region = eu-west-1\nsso_account_id = 1\nsso_role_name = r\n",
            {},
            "sso",
        ),
    ],
)
def test_nobody_is_logged_in(configure: Configure, config: str, environment: dict[str, str], why: str) -> None:
    configure(config, **environment)
    with pytest.raises(CredentialsMissingError) as error:
        AwsClient("eu-west-1", retry_seconds=5)
    assert why in "".join(error.value.details).replace("SSO", "sso").replace("AWS_SECRET", "secret")
    assert any("aws sso login" in line for line in error.value.remedy)


def test_an_endpoint_that_is_not_valid(configure: Configure) -> None:
    configure(**KEYS, AWS_ENDPOINT_URL="localhost:9000")
    with pytest.raises(AwsConfigurationError, match="Invalid endpoint: localhost:9000"):
        AwsClient("eu-west-1", retry_seconds=5)


def test_a_file_with_a_syntax_error(configure: Configure) -> None:
    configure("[default\nregion = x\n", **KEYS)
    with pytest.raises(AwsConfigurationError, match="the AWS configuration cannot be read"):
        AwsClient("eu-west-1", retry_seconds=5)
    assert profile_region() is None
    assert not read_profile().exists


def test_retries_are_the_users_where_configured(configure: Configure) -> None:
    configure(**KEYS)
    retries = AwsClient("eu-west-1", retry_seconds=5).client.meta.config.retries
    assert (retries["mode"], retries["total_max_attempts"]) == ("standard", 3)
    configure("[default]\nmax_attempts = 7\n", **KEYS, AWS_RETRY_MODE="adaptive")
    retries = AwsClient("eu-west-1", retry_seconds=5).client.meta.config.retries
    assert (retries["mode"], retries["total_max_attempts"]) == ("adaptive", 7)

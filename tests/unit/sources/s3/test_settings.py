"""The usual AWS configuration is understood as botocore understands it."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config

from smlocal.errors import CredentialsMissingError, MachineNotReadyError
from smlocal.sources.s3.settings import S3Settings, load_settings

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., S3Settings]:
    """With these files, this environment and nothing else."""

    def with_(config: str = "", credentials: str = "", region: str = "eu-west-1", **environment: str) -> S3Settings:
        files = {"AWS_CONFIG_FILE": tmp_path / "config", "AWS_SHARED_CREDENTIALS_FILE": tmp_path / "credentials"}
        for file, text in zip(files.values(), (config, credentials), strict=True):
            file.write_text(text)
        return load_settings(region, {**{key: str(path) for key, path in files.items()}, **environment})

    return with_


@pytest.mark.parametrize(
    ("region", "environment", "url"),
    [
        ("eu-west-1", {}, "https://s3.eu-west-1.amazonaws.com"),
        ("us-east-1", {}, "https://s3.us-east-1.amazonaws.com"),
        ("cn-north-1", {}, "https://s3.cn-north-1.amazonaws.com.cn"),
        ("us-iso-east-1", {}, "https://s3.us-iso-east-1.c2s.ic.gov"),
        ("us-isob-east-1", {}, "https://s3.us-isob-east-1.sc2s.sgov.gov"),
        ("eusc-de-east-1", {}, "https://s3.eusc-de-east-1.amazonaws.eu"),
        ("us-west-2", {"AWS_USE_DUALSTACK_ENDPOINT": "true"}, "https://s3.dualstack.us-west-2.amazonaws.com"),
        ("us-west-2", {"AWS_USE_FIPS_ENDPOINT": "true"}, "https://s3-fips.us-west-2.amazonaws.com"),
        ("x", {"AWS_ENDPOINT_URL": "http://h:1/"}, "http://h:1"),
        ("x", {"AWS_ENDPOINT_URL": "http://h:1", "AWS_ENDPOINT_URL_S3": "https://i/base"}, "https://i/base"),
        ("x", {"AWS_ENDPOINT_URL": "http://[::1]:80"}, "http://[::1]"),
    ],
)
def test_where_s3_is(load: Callable[..., S3Settings], region: str, environment: dict[str, str], url: str) -> None:
    assert load(region=region, **KEYS, **environment).endpoint.url == url


@pytest.mark.parametrize(
    ("region", "flags"),
    [
        (region, flags)
        for region in ("us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1")
        for flags in ({}, {"use_dualstack_endpoint": True}, {"use_fips_endpoint": True})
        if not (flags and region in {"cn-north-1", "us-iso-east-1"})
    ],
)
def test_botocore_would_go_there_too(
    load: Callable[..., S3Settings], region: str, flags: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    session = botocore.session.Session()
    session.set_credentials("key", "secret")
    client = session.create_client(
        "s3", region_name=region, config=Config(**flags, s3={"us_east_1_regional_endpoint": "regional"})
    )
    went: list[str] = []

    def send(request: Any, **_: Any) -> AWSResponse:
        went.append(request.url)
        return AWSResponse(request.url, 404, {}, None)

    client.meta.events.register("before-send.s3", send)
    with suppress(Exception):
        client.get_object(Bucket="bucket", Key="a b/c+d")
    client.close()
    host, path = load(region=region, **KEYS, **{f"AWS_{name.upper()}": "true" for name in flags}).endpoint.locate(
        "bucket", "a b/c+d"
    )
    assert went == [f"https://{host}{path}"]


SERVICES = (
    "[profile p]\nservices = mine\nendpoint_url = http://all\n[services mine]\ns3 =\n  endpoint_url = http://own\n"
)


@pytest.mark.parametrize(
    ("config", "environment", "url"),
    [
        ("[default]\nendpoint_url = http://all\n", {}, "http://all"),
        (SERVICES, {"AWS_PROFILE": "p"}, "http://own"),
        (SERVICES, {"AWS_DEFAULT_PROFILE": "p"}, "http://own"),
        (SERVICES, {"AWS_PROFILE": "p", "AWS_ENDPOINT_URL": "http://e"}, "http://e"),
        (
            SERVICES,
            {"AWS_PROFILE": "p", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"},
            "https://s3.eu-west-1.amazonaws.com",
        ),
        ('[profile "a b"]\nendpoint_url=http://quoted\n', {"AWS_PROFILE": "a b"}, "http://quoted"),
    ],
)
def test_where_a_profile_says_that_s3_is(
    load: Callable[..., S3Settings], config: str, environment: dict[str, str], url: str
) -> None:
    assert load(config, **KEYS, **environment).endpoint.url == url


def test_an_address_that_is_none(load: Callable[..., S3Settings]) -> None:
    with pytest.raises(MachineNotReadyError, match="'localhost:9000' is no address"):
        load(**KEYS, AWS_ENDPOINT_URL="localhost:9000")


@pytest.mark.parametrize(
    ("config", "url", "bucket", "found"),
    [
        ("", "", "bucket", ("bucket.s3.eu-west-1.amazonaws.com", "/k")),
        ("", "", "dotted.bucket", ("s3.eu-west-1.amazonaws.com", "/dotted.bucket/k")),
        ("", "", "Upper_Case", ("s3.eu-west-1.amazonaws.com", "/Upper_Case/k")),
        ("[default]\ns3 =\n  addressing_style = path\n", "", "bucket", ("s3.eu-west-1.amazonaws.com", "/bucket/k")),
        ("", "http://h", "bucket", ("h", "/bucket/k")),
        ("[default]\ns3 =\n  addressing_style = virtual\n", "http://h", "bucket", ("bucket.h", "/k")),
        ("", "http://h/base", "bucket", ("h", "/base/bucket/k")),
    ],
)
def test_where_a_bucket_is(
    load: Callable[..., S3Settings], config: str, url: str, bucket: str, found: tuple[str, str]
) -> None:
    assert load(config, **KEYS, AWS_ENDPOINT_URL=url).endpoint.locate(bucket, "k") == found


@pytest.mark.parametrize(
    ("config", "given", "environment", "region"),
    [
        ("[default]\nregion = of-file\n", "given", {}, "given"),
        ("[default]\nregion = of-file\n", "", {"AWS_REGION": "a", "AWS_DEFAULT_REGION": "b"}, "a"),
        ("[default]\nregion = of-file\n", "", {"AWS_DEFAULT_REGION": "b"}, "b"),
        ("[default]\nregion = of-file\n", "", {}, "of-file"),
        ("", "", {}, "us-east-1"),
    ],
)
def test_which_region(
    load: Callable[..., S3Settings], config: str, given: str, environment: dict[str, str], region: str
) -> None:
    assert load(config, region=given, **KEYS, **environment).region == region


@pytest.mark.parametrize(
    ("credentials", "environment", "found"),
    [
        ("", KEYS, ("key", "secret", "")),
        ("", {**KEYS, "AWS_SESSION_TOKEN": "token"}, ("key", "secret", "token")),
        ("[default]\naws_access_key_id=a\naws_secret_access_key=b\n", KEYS, ("key", "secret", "")),
        ("[default]\naws_access_key_id=a\naws_secret_access_key=b\n", {}, ("a", "b", "")),
        (
            "[p]\naws_access_key_id=a\naws_secret_access_key=b\naws_session_token=c\n",
            {"AWS_PROFILE": "p"},
            ("a", "b", "c"),
        ),
    ],
)
def test_who_asks(
    load: Callable[..., S3Settings], credentials: str, environment: dict[str, str], found: tuple[str, str, str]
) -> None:
    keys = load("", credentials, **environment).credentials.current()
    assert (keys.access_key, keys.secret_key, keys.token) == found
    assert "secret" not in repr(keys)


def test_a_profile_that_is_not_there(load: Callable[..., S3Settings]) -> None:
    with pytest.raises(CredentialsMissingError) as error:
        load(**KEYS, AWS_PROFILE="nobody")
    assert "nobody" in error.value.details[0]


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ({"http_proxy": "p:1"}, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, None),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "other,h"}, None),
    ],
)
def test_which_proxy(load: Callable[..., S3Settings], environment: dict[str, str], proxy: str | None) -> None:
    assert load(**KEYS, AWS_ENDPOINT_URL="http://h", **environment).proxy == proxy


def _open(environment: dict[str, str], tmp_path: Path) -> str:
    """In a process of its own: botocore reads the process's environment."""
    program = """
import sys
from smlocal.errors import CredentialsMissingError
from smlocal.sources.s3.client import open_store
try:
    store = open_store("eu-west-1")
    keys = store._exchange._settings.credentials.current()
    print(keys.access_key, keys.secret_key, keys.token)
except CredentialsMissingError as error:
    print("missing", error.exit_code, *error.details, *error.remedy)
print(sorted({name.partition(".")[0] for name in sys.modules} & {"botocore", "urllib3", "ssl", "boto3", "isal", "xml"}))
"""
    given = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        **environment,
    }
    done = subprocess.run([sys.executable, "-c", program], env=given, capture_output=True, text=True, check=True)
    return done.stdout


def test_keys_in_the_environment_cost_no_import_of_botocore(tmp_path: Path) -> None:
    assert _open(KEYS, tmp_path) == "key secret \n[]\n"


def test_nobody_is_logged_in(tmp_path: Path) -> None:
    said = _open({}, tmp_path)
    assert said.startswith("missing 3 ")
    assert "aws sso login" in said


def test_half_a_pair_of_keys(tmp_path: Path) -> None:
    assert "secret" in _open({"AWS_ACCESS_KEY_ID": "key"}, tmp_path).partition("Log in")[0].lower()


def test_a_program_that_gives_credentials(tmp_path: Path) -> None:
    answer = '{"Version": 1, "AccessKeyId": "from", "SecretAccessKey": "program", "SessionToken": "token"}'
    (tmp_path / "program").write_text(f"#!/bin/sh\necho '{answer}'\n")
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "config").write_text(f"[profile p]\ncredential_process = {tmp_path}/program\n")
    assert _open({"AWS_PROFILE": "p"}, tmp_path).startswith("from program token\n")

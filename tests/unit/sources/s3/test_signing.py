"""Our signatures are botocore's."""

import time

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as TheirCredentials
from hypothesis import given
from hypothesis import strategies as st

from smlocal.sources.s3.credentials import Credentials
from smlocal.sources.s3.endpoint import quote
from smlocal.sources.s3.signing import Signer

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)


def _authorizations(key: str, prefix: str, token: str) -> tuple[str, str]:
    path, query = f"/bucket/{quote(key)}", f"list-type=2&prefix={quote(prefix, slash='%2F')}"
    signed = Signer("eu-west-1").sign(
        Credentials(access_key="AKID", secret_key="secret", token=token),
        f"GET\n{path}\n{query}",
        {"host": "localhost:9000", "x-amz-checksum-mode": "ENABLED"},
    )
    theirs = AWSRequest("GET", f"http://localhost:9000{path}?{query}", headers={"x-amz-checksum-mode": "ENABLED"})
    signer = S3SigV4Auth(TheirCredentials("AKID", "secret", token or None), "s3", "eu-west-1")
    signer.add_auth(theirs)
    return signed["authorization"], theirs.headers["Authorization"]


@pytest.mark.parametrize("token", ["", "session/token=="])
@given(key=TEXT, prefix=TEXT)
def test_the_same_as_botocore(token: str, key: str, prefix: str) -> None:
    ours, theirs = _authorizations(key, prefix, token)
    if ours != theirs:
        time.sleep(1.01 - time.time() % 1)  # the second had changed between the two
        ours, theirs = _authorizations(key, prefix, token)
    assert ours == theirs


def test_other_keys_sign_otherwise() -> None:
    signer = Signer("eu-west-1")
    first, second = (Credentials(access_key="AKID", secret_key=secret) for secret in ("one", "two"))
    signatures = [signer.sign(who, "GET\n/\n", {"host": "h"})["authorization"] for who in (first, second)]
    assert signatures[0] != signatures[1]

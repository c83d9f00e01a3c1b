"""Requests of S3 that are put together by chance: every answer is one that botocore understands, and no 500."""

from typing import Any
from urllib.parse import urlencode

import pytest
from botocore.parsers import create_parser
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from smlocal.endpoint.protocol.models import service_model

_SIGNED = (
    "authorization",
    b"AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
)
_PATHS = st.one_of(
    st.sampled_from(
        [
            *(
                "/",
                "/bucket",
                "/bucket/",
                "/bucket/data/file",
                "/bucket/key",
                "/bucket/a/b",
                "/bucket/data",
                "/bucket/new/",
            ),
            *(
                "/none/key",
                "/bucket/../x",
                "/bucket/%2e%2e/%2e%2e/etc/passwd",
                "/bucket//a",
                "/bucket/./a",
                "//",
                "/..",
            ),
            *(
                "/bucket/%00",
                "/bucket/%ff",
                "/bucket/a%0ab",
                "/bucket/" + "k" * 1100,
                "/bucket/" + "k/" * 500,
                "/B",
                "/bucket/%ED%A0%80",
            ),
        ]
    ),
    st.text(max_size=10).map(
        lambda text: "/bucket/" + "".join(f"%{byte:02x}" for byte in text.encode(errors="replace"))
    ),
)
_VALUES = st.one_of(
    st.sampled_from(
        ["", "0", "1", "2", "-1", "10001", "9" * 5000, "x", "/", "url", "data/", "\x00", "\ud800", "../..", "MQ=="]
    ),
    st.text(max_size=6),
)
_QUERIES = st.dictionaries(
    st.sampled_from(
        [
            *(
                "list-type",
                "prefix",
                "delimiter",
                "max-keys",
                "continuation-token",
                "start-after",
                "encoding-type",
                "marker",
            ),
            *("uploads", "uploadId", "partNumber", "delete", "acl", "versioning"),
            *("max-uploads", "key-marker", "upload-id-marker", "max-parts", "part-number-marker", "fetch-owner"),
            *("response-content-type", "x-id"),
        ]
    ),
    _VALUES,
    max_size=4,
)
_HEADERS = st.lists(
    st.sampled_from(
        [
            ("range", b"bytes=0-1"),
            ("range", b"bytes=-99999999999999999999"),
            ("range", b"bytes=5-1,7-"),
            ("range", b"\xff"),
            ("if-match", b'"x"'),
            ("if-none-match", b"*"),
            ("if-modified-since", b"Thu, 01 Jan 1970 00:00:00 GMT"),
            ("if-unmodified-since", b"yesterday"),
            ("content-md5", b"x"),
            ("x-amz-copy-source", b"/bucket/data/file"),
            ("x-amz-copy-source", b"bucket/../../etc/passwd"),
            ("x-amz-copy-source", b"%00"),
            ("x-amz-copy-source-range", b"bytes=0-"),
            ("x-amz-content-sha256", b"STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
            ("x-amz-content-sha256", b"0" * 64),
            ("x-amz-decoded-content-length", b"9" * 30),
            ("content-encoding", b"aws-chunked"),
            ("x-amz-trailer", b"x-amz-checksum-crc32"),
            ("x-amz-checksum-crc32", b"AAAA"),
            ("x-amz-sdk-checksum-algorithm", b"CRC64NVME"),
            ("x-amz-metadata-directive", b"REPLACE"),
            ("x-amz-meta-a", b"\xff"),
            ("content-type", b"\xff"),
            ("content-length", b"5"),
            ("expect", b"100-continue"),
        ]
    ),
    max_size=4,
)
_BODIES = st.one_of(
    st.binary(max_size=20),
    st.sampled_from(
        [
            b"0\r\n\r\n",
            b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n",
            b"ffffffffffffffffffff\r\n",
            b"<Delete><Object><Key>data/file2</Key></Object></Delete>",
            b"<Delete><Object><Key>../../x</Key></Object><Object/></Delete>",
            b"<CompleteMultipartUpload><Part><PartNumber>x</PartNumber></Part></CompleteMultipartUpload>",
            b"<!DOCTYPE a [<!ENTITY b 'cc'>]><Delete>&b;</Delete>",
            b"<a>" * 5000,
        ]
    ),
)


@pytest.mark.slow(0.5)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    method=st.sampled_from(["GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "X"]),
    host=st.sampled_from(
        [b"localhost", b"s3.us-east-1.amazonaws.com", b"bucket.s3.amazonaws.com", b"b..s3.amazonaws.com"]
    ),
    path=_PATHS,
    query=_QUERIES,
    headers=_HEADERS,
    body=_BODIES,
)
def test_requests_put_together_by_chance(
    server: Any,
    method: str,
    host: bytes,
    path: str,
    query: dict[str, str],
    headers: list[tuple[str, bytes]],
    body: bytes,
) -> None:
    answer = server.ask(
        method=method,
        path=path,
        query=urlencode(query, errors="surrogatepass"),
        headers=[("host", host), _SIGNED, *headers],
        body=body,
    )
    event(f"{method} {answer.status}")
    if answer.status >= 300:
        shape = service_model("s3").operation_model("PutObject").output_shape
        error = create_parser("rest-xml").parse(answer.for_parser(), shape)["Error"]
        assert error["Code"]
        assert error["Code"] != "InternalError"

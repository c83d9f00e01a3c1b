"""Requests that no client sends, made from the models of the services by a seeded generator."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import islice
from random import Random
from typing import Any
from urllib.parse import quote, quote_from_bytes, quote_plus

from tests.unit.endpoint.odd_values import NAMES, OddValues
from tests.unit.endpoint.served_endpoint import request

from smlocal.endpoint.aws_calls import EMULATED, handlers
from smlocal.endpoint.protocol.models import operation_model, service_model

_JSON = {"sagemaker": b"1.1", "logs": b"1.1", "cloudwatch": b"1.0"}
_QUERY = ("cloudwatch", "sts", "iam")
_JOB: dict[str, Any] = {
    "TrainingJobName": "job-1",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "RoleArn": "arn:aws:iam::000000000000:role/any",
    "InputDataConfig": [
        {
            "ChannelName": "train",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/data"}},
        }
    ],
    "HyperParameters": {"epochs": "1"},
    "Environment": {"A": "b"},
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    "Tags": [{"Key": "a", "Value": "b"}],
}
_HOSTS = (b"localhost", b"127.0.0.1", b"api.sagemaker.us-east-1.amazonaws.com")
_S3_HOSTS = (b"localhost", b"127.0.0.1", b"s3.us-east-1.amazonaws.com", b"bucket.s3.amazonaws.com")


class RequestFuzz(OddValues):
    """Makes requests; the same ones for the same seed."""

    def __init__(self, seed: int, *, large: float, token: str = "") -> None:
        """`large`: how many of the texts, lists and bodies are of megabytes; `token`: of the forms of the page."""
        super().__init__(seed, large=large)
        self._token = token

    def next(self) -> tuple[str, bytes]:
        """The method and the bytes of the next request."""
        make: Callable[[], tuple[str, bytes]] = self.random.choices(
            (self._call, self._form, self._raw_call, self._s3, self._page), (40, 15, 15, 22, 8)
        )[0]
        return make()

    def _operation(self, services: tuple[str, ...]) -> tuple[str, str]:
        random = self.random
        service = random.choice(services)
        if self.chance(0.93):
            return service, random.choice(list(handlers(service)))
        return service, random.choice(list(service_model(service).operation_names))

    def _parameters(self, service: str, operation: str) -> Any:
        model = operation_model(service, operation)
        shape = None if model is None else model.input_shape
        spoil = self.random.choice((0.0, 0.0, 0.02, 0.1, 0.5))
        if operation == "CreateTrainingJob" and self.chance(0.7):
            return self._changed(deepcopy(_JOB) | {"TrainingJobName": self.random.choice(NAMES)}, shape)
        return self.odd() if shape is None or self.chance(0.02) else self.structure(shape, spoil, 0)

    def _changed(self, job: dict[str, Any], shape: Any) -> dict[str, Any]:
        """A valid job with a few members that are not."""
        random = self.random
        for _ in range(random.randrange(3)):
            name = random.choice([*shape.members, "Local"])
            job[name] = (
                self.odd() if name == "Local" or self.chance(0.5) else self.value(shape.members[name], name, 0.2, 0)
            )
        if self.chance(0.3):
            inner = random.choice([each for each in job.values() if isinstance(each, dict)] or [job])
            inner[random.choice([*inner, self.text()])] = self.odd()
        return job

    def _call(self) -> tuple[str, bytes]:
        service, operation = self._operation(tuple(_JSON))
        body = _json(self._parameters(service, operation))
        return "POST", self._sent(service, operation, self._recoded(body))

    def _recoded(self, body: str) -> bytes:
        """In UTF-8, nearly always."""
        if self.chance(0.9):
            return body.encode("utf-8", "surrogatepass")
        code = self.random.choice(("utf-16", "utf-16-le", "utf-32", "utf-7", "latin-1", "utf-8-sig", "cp037"))
        return body.encode(code, "replace")

    def _sent(self, service: str, operation: str, body: bytes) -> bytes:
        random = self.random
        target = f"{service_model(service).metadata.get('targetPrefix', '')}.{operation}".encode()
        kind = b"application/x-amz-json-" + _JSON.get(service, b"1.1")
        if self.chance(0.05):
            target = random.choice(
                (b"", b".", b"SageMaker", b"Logs_20140328.a.b", b"x" * 9000, b"\xff\xfe", target.lower())
            )
        if self.chance(0.1):
            kind = random.choice(
                (b"", b"\xff", b"text/html", b"application/cbor", b"application/x-www-form-urlencoded", b"a" * 5000)
            )
        return request(
            "POST",
            b"/",
            [
                (b"Host", random.choice(_HOSTS)),
                (b"Content-Type", kind),
                (b"X-Amz-Target", target),
                *self._more_headers(),
            ],
            body,
        )

    def _more_headers(self) -> list[tuple[bytes, bytes]]:
        random = self.random
        if self.chance(0.8):
            return []
        return [
            random.choice(
                (
                    (b"Authorization", b"AWS4-HMAC-SHA256 Credential=k/20260101/\xff/sagemaker/aws4_request"),
                    (b"Authorization", b"AWS4-HMAC-SHA256 Credential=k/20260101/cn-north-1/x/aws4_request"),
                    (b"Authorization", b"\xff" * 100),
                    (b"User-Agent", b"\xff m/\xff,"),
                    (b"Content-Encoding", b"gzip"),
                    (b"Accept", b"application/cbor"),
                    (b"Origin", b"http://[::1"),
                    (b"X-Amz-Date", b"\xff"),
                    (b"Expect", b"100-continue"),
                    (b"X-Amz-Security-Token", b"a" * 10_000),
                )
            )
        ]

    def _form(self) -> tuple[str, bytes]:
        random = self.random
        service, operation = self._operation(_QUERY if self.chance(0.95) else tuple(EMULATED))
        fields = [("Action", operation), ("Version", str(service_model(service).api_version))]
        given = self._parameters(service, operation)
        left = self.most
        for name, value in islice(_flat(given, ""), 12_000):
            left -= len(name) + len(value)
            if left < 0:
                break
            fields.append((name, value))
        if self.chance(0.2):
            name = random.choice(
                (
                    "A.member.1",
                    "a..b",
                    ".",
                    "ActionNames.member." + "9" * 50,
                    "a." * self.size(),
                    "ActionNames.1",
                    "Action",
                )
            )
            value = self.text()
            fields += [(name, value)] * min(
                random.choice((1, 1, 1, 2, 11_000)), 1 + self.most // (len(name) + len(value) + 1)
            )
        body = "&".join(
            f"{quote_plus(name, errors='replace')}={quote_plus(value, errors='replace')}" for name, value in fields
        )
        headers = [
            (b"Host", b"localhost"),
            (b"Content-Type", b"application/x-www-form-urlencoded"),
            *self._more_headers(),
        ]
        return "POST", request("POST", b"/", headers, self._recoded(body)[: 9 << 20])

    def _raw_call(self) -> tuple[str, bytes]:
        """Bodies that no encoder of JSON makes."""
        random = self.random
        service, operation = self._operation(tuple(_JSON))
        size = self.size()
        bodies: tuple[Callable[[], bytes], ...] = (
            lambda: b"[" * size,
            lambda: b"{" * size,
            lambda: b'{"a":' * (size // 5),
            lambda: b"[" * (size // 2) + b"]" * (size // 2),
            lambda: b'{"Tags":[' + b"1," * (size // 2) + b"1]}",
            lambda: b'{"Tags":[' + b"{}," * (size // 3) + b"{}]}",
            lambda: b'{"Tags":[' + b"[[]]," * (size // 5) + b"{}]}",
            lambda: b'{"TrainingJobName":"a"' + b',"TrainingJobName":"a"' * (size // 23) + b"}",
            lambda: b"{" + b",".join(b'"k%d":0' % number for number in range(size // 12)) + b',"k1":0}',
            lambda: b'{"TrainingJobName":' + b"1" * size + b"}",
            lambda: b'{"TrainingJobName":"' + b"\\u0041" * (size // 6) + b'"}',
            lambda: b'{"TrainingJobName":"' + b"\\ud800" * (size // 6) + b'"}',
            lambda: b'{"TrainingJobName":NaN}',
            lambda: b'{"SearchExpression":' * (size // 20) + b"1" + b"}" * (size // 20),
            lambda: b'"' * size,
            lambda: b"\\" * size,
            lambda: b" " * size,
            lambda: b"\xff\xfe" * (size // 2),
            lambda: b"\x00" * size,
            lambda: random.randbytes(min(size, 30_000)),
            lambda: _spoiled(random, _json(_JOB).encode()),
        )
        return "POST", self._sent(service, operation, random.choice(bodies)())

    def _s3(self) -> tuple[str, bytes]:
        random = self.random
        method = random.choice((*("GET", "PUT", "POST", "DELETE", "HEAD") * 4, "OPTIONS", "PATCH"))
        words = [self.text()[:600] for _ in range(random.randrange(5))]
        path = "/".join(
            random.choice(
                (["bucket", "data", "file"], ["bucket"], ["bucket", *words], ["empty", *words], ["none"], words)
            )
        )
        target = b"/" + quote(path, errors="replace").encode()
        if self.chance(0.1):
            target += random.choice(
                (b"%ff", b"%00", b"%", b"%zz", b"//", b"/..", b"%2e%2e/", b"%ED%A0%80", b"/" + b"k/" * 300)
            )
        names = random.sample(_S3_QUERY, random.randrange(4))
        query = "&".join(f"{name}={quote(self.text()[:2000], errors='replace')}" for name in names)
        headers = [(b"Host", random.choice(_S3_HOSTS)), _SIGNED_S3]
        headers += random.sample(_S3_HEADERS, random.randrange(4))
        if self.chance(0.2):
            headers.append(
                (b"x-amz-copy-source", quote_from_bytes(self.text()[:500].encode(errors="replace")).encode())
            )
        body = self._s3_body() if method in {"PUT", "POST"} else b""
        return method, request(method, target + (b"?" + query.encode() if query else b""), headers, body)

    def _s3_body(self) -> bytes:
        random = self.random
        size = self.size()
        bodies: tuple[Callable[[], bytes], ...] = (
            lambda: b"",
            lambda: b"x" * size,
            lambda: b"1\r\na\r\n" * (size // 6) + b"0\r\n\r\n",
            lambda: b"ffffffffffffffffffff\r\n",
            lambda: b"\r\n" * (size // 2),
            lambda: b"<a>" * (size // 7) + b"</a>" * (size // 7),
            lambda: b"<a>" * (size // 3),
            lambda: b"<Delete>" + b"<Object><Key>a</Key></Object>" * min(1000, size // 30) + b"</Delete>",
            lambda: b"<Delete>" + b"<Object/>" * (size // 9) + b"</Delete>",
            f"<Delete><Object><Key>{'a/' * 500}b</Key></Object></Delete>".encode,
            lambda: (
                b"<CompleteMultipartUpload>"
                + b"<Part><PartNumber>1</PartNumber><ETag>a</ETag></Part>" * min(10_000, size // 50)
                + b"</CompleteMultipartUpload>"
            ),
            lambda: (
                b"<CompleteMultipartUpload><Part><PartNumber>"
                + b"1" * size
                + b"</PartNumber></Part></CompleteMultipartUpload>"
            ),
            lambda: b"<a " + b" ".join(b'b%d=""' % number for number in range(size // 12)) + b"/>",
            lambda: _DOCTYPE.encode(random.choice(("utf-8", "utf-16", "utf-16-be", "utf-8-sig", "utf-7"))),
            lambda: (
                b'<?xml version="1.0" encoding="%s"?><Delete/>' % random.choice((b"utf-7", b"cp037", b"x", b"utf-32"))
            ),
            lambda: random.randbytes(min(size, 30_000)),
            lambda: b"<" * size,
            lambda: b"<Delete><!--" + b"-" * size + b"--></Delete>",
            lambda: b"<Delete>" + b"&#0;" * (size // 4) + b"</Delete>",
        )
        return random.choice(bodies)()

    def _page(self) -> tuple[str, bytes]:
        random = self.random
        path = random.choice(
            (
                *_PAGES,
                f"/-/jobs/{quote(self.text()[:300], errors='replace')}",
                f"/-/{quote(self.text()[:300], errors='replace')}",
            )
        )
        names = random.sample(_PAGE_QUERY, random.randrange(3))
        query = "&".join(f"{name}={quote(self.text()[:2000], errors='replace')}" for name in names)
        target = (path + (f"?{query}" if query else "")).encode()
        headers = [(b"Host", b"localhost"), *self._more_headers()]
        if self.chance(0.6):
            return "GET", request("GET", target, headers)
        document = random.choice(
            (_json(_JOB), self.text(), _json(self.odd()), "a: &a [*a]\n", "TrainingJobName: " + self.text())
        )
        token = self._token if self.chance(0.9) else self.text()
        body = (
            f"token={quote_plus(token, errors='replace')}&document={quote_plus(document[: 2 << 20], errors='replace')}"
        )
        headers.append((b"Origin", b"http://localhost"))
        headers.append((b"Content-Type", b"application/x-www-form-urlencoded"))
        target = random.choice(
            (b"/-/new", b"/-/jobs/ended/stop", b"/-/jobs/none/stop", target.replace(b"/running", b"/ended"))
        )
        return "POST", request("POST", target, headers, body.encode())


_PAGES = (
    *(
        "/",
        "/-/new",
        "/-/jobs/running",
        "/-/jobs/ended",
        "/-/jobs/running/logs/algo-1",
        "/-/jobs/ended/logs/..%2f..",
        "/-/style.css",
    ),
    *(
        "/-/jobs/running/artifacts/model/x",
        "/-/jobs/ended/artifacts/model/..%2f..%2fx",
        "/-/login",
        "/-/",
        "//",
        "/-/jobs//events",
    ),
)
_PAGE_QUERY = ("name", "status", "after", "host", "from", "key", "token")
_SIGNED_S3 = (
    b"Authorization",
    b"AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
)
_S3_QUERY = (
    *("list-type", "prefix", "delimiter", "max-keys", "continuation-token", "start-after", "encoding-type", "marker"),
    *(
        "uploads",
        "uploadId",
        "partNumber",
        "delete",
        "acl",
        "versioning",
        "location",
        "versionId",
        "x-id",
        "fetch-owner",
    ),
    *("max-uploads", "key-marker", "upload-id-marker", "max-parts", "part-number-marker", "max-buckets", "attributes"),
)
_S3_HEADERS = (
    (b"Range", b"bytes=0-1"),
    (b"Range", b"bytes=-99999999999999999999"),
    (b"Range", b"bytes=5-1,7-"),
    (b"If-Match", b'"x"'),
    (b"If-None-Match", b"*"),
    (b"If-Modified-Since", b"Thu, 01 Jan 1970 00:00:00 GMT"),
    (b"If-Modified-Since", b"Thu, 01 Jan 99999 00:00:00 GMT"),
    (b"If-Modified-Since", b"Thu, 01 Jan 0001 00:00:00 +9999"),
    (b"If-Unmodified-Since", b"yesterday"),
    (b"Content-MD5", b"x"),
    (b"Content-MD5", b"\xff"),
    (b"x-amz-copy-source", b"/bucket/data/file"),
    (b"x-amz-copy-source", b"bucket/../../etc/passwd"),
    (b"x-amz-copy-source", b"bucket/%ff%00"),
    (b"x-amz-copy-source-range", b"bytes=0-"),
    (b"x-amz-copy-source-range", b"bytes=0-1"),
    (b"x-amz-content-sha256", b"STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
    (b"x-amz-content-sha256", b"0" * 64),
    (b"x-amz-content-sha256", b"\xff" * 64),
    (b"x-amz-decoded-content-length", b"9" * 30),
    (b"x-amz-decoded-content-length", b"\xb2"),
    (b"Content-Encoding", b"aws-chunked"),
    (b"x-amz-trailer", b"x-amz-checksum-crc32"),
    (b"x-amz-trailer", b"x-amz-checksum-\xff"),
    (b"x-amz-checksum-crc32", b"AAAA"),
    (b"x-amz-checksum-sha256", b"\xff"),
    (b"x-amz-sdk-checksum-algorithm", b"CRC64NVME"),
    (b"x-amz-sdk-checksum-algorithm", b"\xff"),
    (b"x-amz-metadata-directive", b"REPLACE"),
    (b"x-amz-meta-a", b"\xff"),
    (b"x-amz-meta-\xc3\xa9", b"a"),
    (b"x-amz-tagging", b"a=b"),
    (b"x-amz-expected-bucket-owner", b"\xff"),
    (b"Content-Type", b"\xff"),
    (b"Expires", b"\xff"),
)
_DOCTYPE = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "data/file">]><Delete><Object><Key>&b;</Key></Object></Delete>'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _spoiled(random: Random, body: bytes) -> bytes:
    """A body with a few bytes that are others, are missing, or come twice."""
    spoiled = bytearray(body)
    for _ in range(random.randrange(1, 6)):
        at = random.randrange(len(spoiled))
        spoiled[at : at + random.randrange(3)] = random.choice(
            (b"", b"\x00", b"\xff", b'"', b"{", b"]", b",", b"\\", b"9" * 5000)
        )
    return bytes(spoiled)


def _flat(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """As a query has it."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _flat(each, f"{place}.{name}" if place else name)
    elif isinstance(value, list):
        for number, each in enumerate(value[:20_000], 1):
            yield from _flat(each, f"{place}.member.{number}")
    elif value is not None:
        yield place, str(value).lower() if isinstance(value, bool) else str(value)

"""GetObject: signed by botocore, moved by urllib3 straight from the connection."""

from collections.abc import Callable, Mapping

from smlocal.sources.s3.aws_client import AwsClient, BucketTarget
from smlocal.sources.s3.error_responses import error_of, failure_of, is_elsewhere, unanswered
from smlocal.sources.s3.interface import S3Error, S3Object

_AGENT = "smlocal"
_GOOD = {200, 206}
_MOST_ERROR = 1 << 20
_PIECE = 256 << 10
_OPERATION = "GetObject"
_ARGUMENTS = {"range": "Range", "if-match": "IfMatch", "x-amz-checksum-mode": "ChecksumMode"}


class BrokenBodyError(Exception):
    """The body ended, or stayed silent, before its time."""


class ObjectBody:
    """A good answer to GetObject, its body read piece by piece; for one thread."""

    def __init__(
        self, read: Callable[[int], bytes], close: Callable[[], None], status: int, headers: Mapping[str, str]
    ) -> None:
        """`close` ends a connection whose body was not read to its end; others are kept by then."""
        self._read, self.close = read, close
        self.status = status
        self.headers = {name.lower(): value for name, value in headers.items()}

    def read_into(self, buffer: memoryview) -> int:
        """Read some of the body; 0 at its end."""
        from botocore.exceptions import BotoCoreError
        from urllib3.exceptions import HTTPError

        if not buffer:
            return 0
        try:
            data = self._read(min(len(buffer), _PIECE))
        except (HTTPError, BotoCoreError, OSError) as error:
            raise BrokenBodyError(str(error)) from error
        buffer[: len(data)] = data
        return len(data)


def get_object(aws: AwsClient, wanted: S3Object, headers: Mapping[str, str]) -> ObjectBody:
    """Ask for an object or a range of it, once; raises `S3Error`. `headers` have their names in lower case."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        target = aws.target(wanted.bucket)
        if target is None:
            return _by_client(aws, wanted, headers)
        try:
            return _signed(aws, target, wanted, headers)
        except S3Error as error:
            if not is_elsewhere(error):
                raise
            # The client follows, and knows the region from then on.
            aws.forget_target(wanted.bucket)
            return _by_client(aws, wanted, headers)
    except (BotoCoreError, ClientError) as error:
        raise failure_of(error, wanted.uri, _OPERATION) from error


def _signed(aws: AwsClient, target: BucketTarget, wanted: S3Object, headers: Mapping[str, str]) -> ObjectBody:
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.utils import percent_encode
    from urllib3.exceptions import HTTPError

    if aws.payer:
        headers = {**headers, "x-amz-request-payer": aws.payer}
    url = f"{target.url}{percent_encode(wanted.key, safe='-._~/')}"
    request = AWSRequest("GET", url, headers=headers, stream_output=True)
    request.headers["user-agent"] = _AGENT
    S3SigV4Auth(aws.keys(), target.service, target.region).add_auth(request)
    answer = aws.http.send(request.prepare())
    raw = answer.raw
    if answer.status_code not in _GOOD:
        try:
            document = raw.read(_MOST_ERROR)
        except (HTTPError, OSError) as error:
            raise unanswered(error, wanted.uri, _OPERATION) from error
        finally:
            raw.close()
        raise error_of(answer.status_code, document, wanted.uri, _OPERATION)
    return ObjectBody(
        lambda count: raw.read(count, decode_content=False), raw.close, answer.status_code, answer.headers
    )


def _by_client(aws: AwsClient, wanted: S3Object, headers: Mapping[str, str]) -> ObjectBody:
    """Slower, and right wherever botocore is: other signatures, other regions."""
    arguments = {_ARGUMENTS[name]: value for name, value in headers.items()}
    answer = aws.client.get_object(Bucket=wanted.bucket, Key=wanted.key, **arguments)
    meta, body = answer["ResponseMetadata"], answer["Body"]
    return ObjectBody(body.read, body.close, meta["HTTPStatusCode"], meta["HTTPHeaders"])

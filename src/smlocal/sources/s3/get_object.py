"""GetObject: signed with botocore's signer, read by urllib3 (architecture.md has the figures)."""

from collections.abc import Callable, Mapping

from smlocal.sources.s3.aws_client import AwsClient, BucketTarget
from smlocal.sources.s3.error_responses import error_of, is_redirect, no_response, s3_error
from smlocal.sources.s3.interface import S3Error, S3Object

_USER_AGENT = "smlocal"
_SUCCESS = {200, 206}
_ERROR_BYTES = 1 << 20
_PIECE = 256 << 10
_OPERATION = "GetObject"
_ARGUMENTS = {"range": "Range", "if-match": "IfMatch", "x-amz-checksum-mode": "ChecksumMode"}


class BrokenBodyError(Exception):
    """The connection broke or timed out within the body."""


class ObjectBody:
    """A successful answer to GetObject, whose body is read piece by piece; for one thread."""

    def __init__(
        self, read: Callable[[int], bytes], close: Callable[[], None], status: int, headers: Mapping[str, str]
    ) -> None:
        """`close` closes a connection whose body was not read to its end; others are reused."""
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
    """Request an object or a range of it, once; raises `S3Error`. The names of `headers` are in lower case."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        target = aws.target(wanted.bucket)
        if target is None:
            return _by_client(aws, wanted, headers)
        try:
            return _signed(aws, target, wanted, headers)
        except S3Error as error:
            if not is_redirect(error):
                raise
            # The client follows the redirect, and from then on resolves the bucket to its region.
            aws.forget_target(wanted.bucket)
            return _by_client(aws, wanted, headers)
    except (BotoCoreError, ClientError) as error:
        raise s3_error(error, wanted.uri, _OPERATION) from error


def _signed(aws: AwsClient, target: BucketTarget, wanted: S3Object, headers: Mapping[str, str]) -> ObjectBody:
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.utils import percent_encode
    from urllib3.exceptions import HTTPError

    if aws.payer:
        headers = {**headers, "x-amz-request-payer": aws.payer}
    url = f"{target.url}{percent_encode(wanted.key, safe='-._~/')}"
    request = AWSRequest("GET", url, headers=headers, stream_output=True)
    request.headers["user-agent"] = _USER_AGENT
    S3SigV4Auth(aws.keys(), target.service, target.region).add_auth(request)
    answer = aws.http.send(request.prepare())
    raw = answer.raw
    if answer.status_code not in _SUCCESS:
        try:
            document = raw.read(_ERROR_BYTES)
        except (HTTPError, OSError) as error:
            raise no_response(error, wanted.uri, _OPERATION) from error
        finally:
            raw.close()
        raise error_of(answer.status_code, document, wanted.uri, _OPERATION)
    return ObjectBody(
        lambda count: raw.read(count, decode_content=False), raw.close, answer.status_code, answer.headers
    )


def _by_client(aws: AwsClient, wanted: S3Object, headers: Mapping[str, str]) -> ObjectBody:
    """Slower, but for every signature and region that botocore knows."""
    arguments = {_ARGUMENTS[name]: value for name, value in headers.items()}
    answer = aws.client.get_object(Bucket=wanted.bucket, Key=wanted.key, **arguments)
    meta, body = answer["ResponseMetadata"], answer["Body"]
    return ObjectBody(body.read, body.close, meta["HTTPStatusCode"], meta["HTTPHeaders"])

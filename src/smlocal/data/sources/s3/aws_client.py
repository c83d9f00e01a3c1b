"""botocore's S3 client, and where it sends the GetObject requests of a bucket."""

import os
import threading
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import ParseError, fromstring, tostring

from botocore.httpsession import URLLib3Session
from botocore.utils import get_environ_proxies

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.aws_session import (
    CONNECT_TIMEOUT,
    CONNECTIONS,
    client_config,
    credentials_of,
    frozen_keys,
    new_session,
)
from smlocal.data.sources.s3.interface import S3Error
from smlocal.errors import AwsConfigurationError, CredentialsMissingError
from smlocal.terms.rights import EVERYTHING, Rights

_READ_TIMEOUT = 20.0
_SLOW_READ_TIMEOUT = 300.0
"""A server may join thousands of parts before it answers."""
_FORBIDDEN = 403
_PLAIN_SIGNATURES = frozenset({"s3v4", "v4"})


@dataclass(frozen=True, kw_only=True, slots=True)
class BucketTarget:
    """Where the GetObject requests of a bucket go, and how they are signed."""

    url: str
    """The percent-encoded key follows it."""
    service: str
    region: str


class AwsClient:
    """One botocore session and its S3 client; safe to use from many threads.

    botocore is the only authority for endpoints, regions, redirects, addressing, proxies, certificates, credentials and
    retries. Settings of these that the user has configured are not overridden.
    """

    def __init__(
        self, region: str, *, retry_seconds: float, rights: Rights = EVERYTHING, profile: str | None = None
    ) -> None:
        """No request is sent yet; `CredentialsMissingError` if there are no credentials."""
        self._rights = rights
        self._session = new_session(profile)
        self._credentials = credentials_of(self._session)
        self._region = (
            region or os.environ.get("AWS_REGION") or self._session.get_config_variable("region") or "us-east-1"
        )
        self._read_timeout = max(1.0, min(_READ_TIMEOUT, retry_seconds))
        self.payer = os.environ.get("AWS_REQUEST_PAYER", "")
        self.client = self._make(self._read_timeout)
        self.http = self._http()
        """botocore's HTTP session, for requests that are signed here: connections, proxies, certificates."""
        self._slow_client: Any = None
        self._targets: dict[str, BucketTarget | None] = {}
        self._lock = threading.Lock()
        self._probing = threading.local()
        self.client.meta.events.register_last("before-sign.s3.GetObject", self._stop_probe)

    @property
    def endpoint_url(self) -> str:
        """The address of S3 without a bucket."""
        return str(self.client.meta.endpoint_url)

    @property
    def slow_client(self) -> Any:
        """A client for answers that take long: CompleteMultipartUpload."""
        with self._lock:
            if self._slow_client is None:
                self._slow_client = self._make(_SLOW_READ_TIMEOUT)
            return self._slow_client

    def keys(self) -> Any:
        """The current credentials."""
        return frozen_keys(self._credentials)

    def target(self, bucket: str) -> BucketTarget | None:
        """Where GetObject goes; None if requests need another signature than SigV4 (S3 Express, multi-region)."""
        if bucket not in self._targets:
            self._targets[bucket] = self._resolve(bucket)
        return self._targets[bucket]

    def forget_target(self, bucket: str) -> None:
        """Resolve the bucket again: it is in another region, which the client learns from the redirect."""
        self._targets.pop(bucket, None)

    def close(self) -> None:
        """Close idle connections."""
        self.client.close()
        if self._slow_client is not None:
            self._slow_client.close()
        self.http.close()

    def _make(self, read_timeout: float) -> Any:
        config = client_config(self._session, read_timeout=read_timeout)
        try:
            client = self._session.create_client("s3", region_name=self._region, config=config)
        except ValueError as error:
            raise AwsConfigurationError(
                f"the S3 endpoint in the AWS configuration is not valid: {error}",
                remedy=("Look at AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL and endpoint_url in ~/.aws/config.",),
            ) from error
        if self._rights.buckets is not None:
            client.meta.events.register_first("provide-client-params.s3", self._check_bucket)
        if self.payer:
            client.meta.events.register("before-call.s3", self._add_payer)
        # With this wildcard it comes before all handlers of botocore, one of which parses the whole document too.
        client.meta.events.register_first("before-parse.*.ListObjectsV2", take_objects)
        for operation in ("PutObject", "UploadPart"):
            # A body is read for its checksum and signature before it is sent; see `UploadBody`.
            client.meta.events.register_first(f"request-created.s3.{operation}", _not_transferring)
            client.meta.events.register_last(f"request-created.s3.{operation}", _transferring)
        return client

    def _check_bucket(self, params: dict[str, Any], **_: Any) -> None:
        """Every request, also one that is only resolved here and signed elsewhere, passes here before it is made."""
        bucket = str(params.get("Bucket", ""))
        if not self._rights.covers_bucket(bucket):
            raise S3Error(
                "AccessDenied",
                f"The job may not use the bucket {bucket} with the credentials of this machine: it is not in "
                "Local.AllowedBuckets. For clients of the endpoint, its owner can allow it: "
                f"smlocal serve --allow-bucket {bucket}",
                status=_FORBIDDEN,
                uri=f"s3://{bucket}/{params.get('Key', params.get('Prefix', ''))}",
            )

    def _add_payer(self, params: dict[str, Any], **_: Any) -> None:
        params["headers"]["x-amz-request-payer"] = self.payer

    def _resolve(self, bucket: str) -> BucketTarget | None:
        """Let the client prepare a request, and stop it before it is signed."""
        self._probing.on = True
        try:
            self.client.get_object(Bucket=bucket, Key="k")
        except _ProbeError as probe:
            found = probe
        finally:
            self._probing.on = False
        if found.version not in _PLAIN_SIGNATURES:
            return None
        return BucketTarget(url=found.url.removesuffix("k"), service=found.service, region=found.region)

    def _stop_probe(self, request: Any, signing_name: str, region_name: str, signature_version: str, **_: Any) -> None:
        if getattr(self._probing, "on", False):
            own = request.context.get("signing") or {}  # an access point has its own region
            raise _ProbeError(
                url=request.url,
                version=signature_version,
                service=own.get("signing_name", signing_name),
                region=own.get("region", region_name),
            )

    def _http(self) -> Any:
        """A session with the settings of the client's own."""
        config = self.client.meta.config
        proxies = config.proxies if config.proxies is not None else get_environ_proxies(self.endpoint_url)
        trusted = self._session.get_config_variable("ca_bundle") or os.environ.get("REQUESTS_CA_BUNDLE")
        return URLLib3Session(
            verify=trusted or True,
            proxies=proxies,
            timeout=(CONNECT_TIMEOUT, self._read_timeout),
            max_pool_connections=CONNECTIONS,
            client_cert=config.client_cert,
            proxies_config=config.proxies_config,
        )


def _not_transferring(**arguments: Any) -> None:
    from s3transfer.utils import signal_not_transferring  # 7 ms, which jobs that upload nothing need not wait for

    signal_not_transferring(**arguments)


def _transferring(**arguments: Any) -> None:
    from s3transfer.utils import signal_transferring

    signal_transferring(**arguments)


class _ProbeError(Exception):
    """Stops a request before it is signed; has its address, region and signer."""

    def __init__(self, *, url: str, version: str, service: str, region: str) -> None:
        super().__init__(url)
        parts = urlsplit(url)
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path}"
        self.version, self.service, self.region = version, service, region


class RenewableClient:
    """The current client, replaced when the user has new credentials."""

    def __init__(
        self, region: str, *, retry_seconds: float, rights: Rights = EVERYTHING, profile: str | None = None
    ) -> None:
        """Create the first client."""
        self._region, self._rights, self._retry_seconds, self._profile = region, rights, retry_seconds, profile
        self._lock = threading.Lock()
        self.current = self._new()

    def renew(self, refused: AwsClient) -> bool:
        """Load the credentials again after S3 refused them as expired; True if they are different now."""
        with self._lock:
            if self.current is not refused:
                return True  # another thread has renewed it
            try:
                found = self._new()
                if found.keys() == refused.keys():
                    return False
            except CredentialsMissingError:
                return False
            self.current = found
            return True

    def _new(self) -> AwsClient:
        return AwsClient(self._region, rights=self._rights, retry_seconds=self._retry_seconds, profile=self._profile)


# The objects in a page of a listing, read faster than by botocore's parser.

_ROOT = "ListBucketResult"
_OK = 200


def take_objects(
    response_dict: MutableMapping[str, Any], customized_response_dict: MutableMapping[str, Any], **_: Any
) -> None:
    """Handler of botocore's event `before-parse`: read key, size and ETag, and leave the rest to botocore.

    It parses the rest of the document, and adds `customized_response_dict` to the answer. With its own parser 5,000
    objects took 130 to 140 ms of processor time, 40 to 45 with this: a fifth of all that the second run of such a job
    took. A document that is not understood stays as it is, so that botocore reads all of it or raises its own error.
    """
    if response_dict["status_code"] != _OK:
        return
    try:
        page = fromstring(response_dict["body"])  # noqa: S314  expat has limits of its own, and the user trusts this S3
    except ParseError:
        return
    start = page.tag.removesuffix(_ROOT)  # the namespace
    contents, key, size, etag = (f"{start}{name}" for name in ("Contents", "Key", "Size", "ETag"))
    found = []
    for each in page.iterfind(contents):
        texts = {"Key": each.findtext(key), "Size": each.findtext(size), "ETag": each.findtext(etag)}
        if not all(texts.values()):
            return
        found.append(texts)
    if found:
        page[:] = [each for each in page if each.tag != contents]
        response_dict["body"] = tostring(page)
        customized_response_dict["Contents"] = found

"""The usual AWS configuration for S3, read without making a boto3 client: that alone would cost 250 ms."""

import os
from collections.abc import Mapping
from functools import cache

from smlocal.errors import MachineNotReadyError
from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.credentials import CredentialSource, credential_source, missing
from smlocal.sources.s3.endpoint import Endpoint, custom_endpoint, public_endpoint
from smlocal.sources.s3.profile import Profile, read_profile


@dataclass(frozen=True, kw_only=True, slots=True)
class S3Settings:
    """How S3 is reached, and as whom."""

    region: str
    endpoint: Endpoint
    credentials: CredentialSource
    authorities: str | None = None
    """A file or folder with the certificates that are trusted; None for those that botocore would trust."""
    proxy: str | None = None
    """The URL of the proxy on the way there."""
    sums_sent: bool = True
    """Whether what is uploaded goes with a checksum; some servers that speak S3 refuse that."""


def load_settings(region: str, environment: Mapping[str, str] = os.environ) -> S3Settings:
    """Read the environment and the profile; raises `CredentialsMissingError` when nobody is logged in."""
    read = cache(lambda: read_profile(environment))
    profile = read()
    if profile.named and not profile.exists:
        raise missing(f"the profile {profile.name} is in neither of the AWS configuration files")
    region = (
        region
        or environment.get("AWS_REGION")
        or environment.get("AWS_DEFAULT_REGION")
        or profile.get("region")
        or "us-east-1"
    )
    endpoint = _endpoint(region, environment, profile)
    return S3Settings(
        region=region,
        endpoint=endpoint,
        credentials=credential_source(environment, lambda: read_profile(environment)),
        authorities=environment.get("AWS_CA_BUNDLE")
        or profile.get("ca_bundle")
        or environment.get("REQUESTS_CA_BUNDLE")
        or None,
        proxy=_proxy(endpoint, environment),
        sums_sent=_sums_sent(environment, profile),
    )


def _endpoint(region: str, environment: Mapping[str, str], profile: Profile) -> Endpoint:
    style = profile.nested("s3", "addressing_style")
    if not _flag(environment, profile, "ignore_configured_endpoint_urls"):
        url = (
            environment.get("AWS_ENDPOINT_URL_S3")
            or environment.get("AWS_ENDPOINT_URL")
            or profile.service("s3", "endpoint_url")
            or profile.get("endpoint_url")
        )
        if url:
            try:
                return custom_endpoint(url, path_style=style != "virtual")
            except ValueError as error:
                raise MachineNotReadyError(
                    f"the S3 endpoint that AWS is configured with cannot be used: {error}",
                    remedy=("Look at AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL and endpoint_url in ~/.aws/config.",),
                ) from error
    dualstack = _flag(environment, profile, "use_dualstack_endpoint")
    return public_endpoint(
        region,
        dualstack=dualstack or profile.nested("s3", "use_dualstack_endpoint").lower() == "true",
        fips=_flag(environment, profile, "use_fips_endpoint"),
        path_style=style == "path",
    )


def _sums_sent(environment: Mapping[str, str], profile: Profile) -> bool:
    name = "request_checksum_calculation"
    return (environment.get(f"AWS_{name.upper()}") or profile.get(name)).lower() != "when_required"


def _flag(environment: Mapping[str, str], profile: Profile, name: str) -> bool:
    return (environment.get(f"AWS_{name.upper()}") or profile.get(name)).lower() == "true"


def _proxy(endpoint: Endpoint, environment: Mapping[str, str]) -> str | None:
    """The proxy for this endpoint; the standard library's reader of `no_proxy` is imported only where one is set."""
    scheme = "https" if endpoint.encrypted else "http"
    url = environment.get(f"{scheme}_proxy") or environment.get(f"{scheme.upper()}_PROXY")
    if not url:
        return None
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # known on other systems only

    excepted = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if proxy_bypass_environment(endpoint.host, {"no": excepted}):
        return None
    return url if "://" in url else f"http://{url}"

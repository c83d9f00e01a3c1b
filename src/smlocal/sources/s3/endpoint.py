"""Where a bucket is: host, path, and whether the way there is encrypted."""

from smlocal.quick_dataclass import dataclass

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
_SUFFIXES = (
    ("cn-", "amazonaws.com.cn"),
    ("us-isob-", "sc2s.sgov.gov"),
    ("us-isof-", "csp.hci.ic.gov"),
    ("us-iso-", "c2s.ic.gov"),
    ("eu-isoe-", "cloud.adc-e.uk"),
    ("eusc-", "amazonaws.eu"),
)
_SHORTEST = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """The address of an S3 service."""

    host: str
    port: int
    encrypted: bool
    path_style: bool
    base: str = ""
    """A path that every key is below, for a server that is not alone at its address."""

    @property
    def url(self) -> str:
        """The address as people write it."""
        return f"{'https' if self.encrypted else 'http'}://{self.authority(self.host)}{self.base}"

    def authority(self, host: str) -> str:
        """The host with its port, where that is not the scheme's own."""
        host = f"[{host}]" if ":" in host else host
        return host if self.port == (443 if self.encrypted else 80) else f"{host}:{self.port}"

    def locate(self, bucket: str, key: str = "") -> tuple[str, str]:
        """The host to ask and the percent-encoded path to ask for."""
        if self.path_style or not _fits_a_host_name(bucket):
            return self.host, f"{self.base}/{quote(bucket)}{'/' + quote(key) if key else ''}"
        return f"{bucket}.{self.host}", f"{self.base}/{quote(key)}"


def custom_endpoint(url: str, *, path_style: bool) -> Endpoint:
    """The address that a user has set; ValueError for one that cannot be."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{url!r} is no address that begins with http:// or https://")
    encrypted = parts.scheme == "https"
    return Endpoint(
        host=parts.hostname,
        port=parts.port or (443 if encrypted else 80),
        encrypted=encrypted,
        path_style=path_style,
        base=parts.path.rstrip("/"),
    )


def public_endpoint(region: str, *, dualstack: bool, fips: bool, path_style: bool) -> Endpoint:
    """The address of Amazon S3 in a region."""
    suffix = next((suffix for start, suffix in _SUFFIXES if region.startswith(start)), "amazonaws.com")
    service = "s3-fips" if fips else "s3"
    host = f"{service}{'.dualstack' if dualstack else ''}.{region}.{suffix}"
    return Endpoint(host=host, port=443, encrypted=True, path_style=path_style)


def quote(text: str, *, slash: str = "/") -> str:
    """Percent-encode as S3's signatures want it."""
    quoted = "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in text.encode())
    return quoted if slash == "/" else quoted.replace("/", slash)


def _fits_a_host_name(bucket: str) -> bool:
    """A dot would not match the service's certificate; other letters cannot be in a host's name."""
    plain = bucket.replace("-", "")
    return len(bucket) >= _SHORTEST and plain.isascii() and plain.isalnum() and plain == plain.lower()

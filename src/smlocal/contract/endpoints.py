"""`Local.Endpoints` as environment variables of AWS's libraries, with addresses that work in a container."""

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

_S3 = "AWS_ENDPOINT_URL_S3"
_HERE = {"localhost", "127.0.0.1", "::1", "0.0.0.0"}  # noqa: S104 - what people write for their own machine


def endpoint_variables(endpoints: Mapping[str, str], *, this_machine: str) -> dict[str, str]:
    """`AWS_ENDPOINT_URL_<SERVICE>` for each. Services on this machine get the host name that containers know it by.

    A URL of S3 with a user and a password has a key for it: libraries want that in variables of its own.
    """
    found = {variable(service): _reached(url, this_machine) for service, url in endpoints.items()}
    parts = urlsplit(found.get(_S3, ""))
    if parts.username and parts.password:
        found[_S3] = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        found["AWS_ACCESS_KEY_ID"], found["AWS_SECRET_ACCESS_KEY"] = unquote(parts.username), unquote(parts.password)
    return found


def variable(service: str) -> str:
    """The variable of a service, for example AWS_ENDPOINT_URL_S3 for `s3`."""
    return f"AWS_ENDPOINT_URL_{service.upper().replace(' ', '_').replace('-', '_')}"


def local_port(url: str) -> int | None:
    """The port of a service on this machine; None if it is on another."""
    parts = urlsplit(url)
    if not _is_here(parts.hostname):
        return None
    return parts.port or (443 if parts.scheme == "https" else 80)


def _is_here(name: str | None) -> bool:
    return name is not None and (name in _HERE or name.startswith("127.") or name.endswith(".localhost"))


def _reached(url: str, this_machine: str) -> str:
    parts = urlsplit(url)
    if not _is_here(parts.hostname):
        return url
    user, at, _ = parts.netloc.rpartition("@")
    port = "" if parts.port is None else f":{parts.port}"
    return parts._replace(netloc=f"{user}{at}{this_machine}{port}").geturl()

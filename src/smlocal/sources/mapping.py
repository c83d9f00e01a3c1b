"""`Local.Sources`: which local path is mapped to an S3 URI."""

from collections.abc import Mapping

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The most specific entry of a mapping for a URI."""

    key: str
    """As written in the mapping."""
    base: str
    """The key as a folder, with one `/` at its end."""
    value: str
    """The local path, as written in the mapping."""
    rest: str
    """The rest of the URI after `base`; empty if it is the mapped URI itself, with or without its `/`."""


def longest_match(uri: str, mapping: Mapping[str, str]) -> Match | None:
    """Find the longest key that is the URI or a folder above it.

    A key is a folder with or without a final `/`: `s3://b/some` covers `s3://b/some` and `s3://b/some/x`, but not
    `s3://b/some-other`. A URI above every key is not covered, because only a part of its objects would be local.
    """
    best: Match | None = None
    for key, value in mapping.items():
        folder = key.rstrip("/")
        base = f"{folder}/"
        if uri != folder and not uri.startswith(base):
            continue
        if best is None or len(base) > len(best.base):
            best = Match(key=key, base=base, value=value, rest=uri[len(base) :])
    return best


def is_remote(uri: str) -> bool:
    """Whether a URI is not local: it has a scheme other than `file://`."""
    scheme, separator, _ = uri.partition("://")
    return bool(separator) and scheme.isalnum() and scheme.lower() != "file"

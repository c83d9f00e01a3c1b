"""Local.Sources and its kin: which local path stands for an `s3://` location."""

from collections.abc import Mapping

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The entry of a mapping that covers a URI best."""

    key: str
    """As the mapping spells it."""
    base: str
    """The key as a folder, with one `/` at its end."""
    value: str
    """The local path, as the mapping spells it."""
    rest: str
    """What the URI has after `base`; empty when it names the mapped place itself, with or without its `/`."""


def longest_match(uri: str, mapping: Mapping[str, str]) -> Match | None:
    """Find the longest key that is the URI or a folder above it.

    A key counts as a folder whether or not it ends with `/`: `s3://b/some` covers `s3://b/some` and `s3://b/some/x` and
    never `s3://b/some-other`. A URI above every key is not covered: of its objects only a part would be known here.
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
    """True for what only a mapping can bring here: any scheme but `file://`."""
    scheme, separator, _ = uri.partition("://")
    return bool(separator) and scheme.isalnum() and scheme.lower() != "file"

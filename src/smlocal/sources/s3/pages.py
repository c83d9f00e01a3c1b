"""Pages of a listing. A bucket of a million objects has a thousand of them, and a job waits for them all."""

import re
from collections.abc import Iterable, Sequence

from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.answers import plain_tag
from smlocal.sources.s3.interface import S3Object

_ENTRY = re.compile(
    r"<Contents>(?:"
    r"<Key>([^<]*)</Key>|<ETag>([^<]*)</ETag>|<Size>([0-9]+)</Size>|<(\w+)>[^<]*</\4>"
    r"|<Owner>(?:<(\w+)>[^<]*</\5>|\s+)*+</Owner>|\s+"
    r")*+</Contents>"
)
"""One object as all servers write it. No part of it is tried twice, so that no page takes long."""
_GROUPS = 5
_AROUND = re.compile(
    r"(?:<\?xml[^>]*>)?\s*<ListBucketResult(?:\s[^>]*)?>((?:<(\w+)>[^<]*</\2>|<\w+/>|\s+)*+)</ListBucketResult>\s*"
)
_TEXT = re.compile(r"<(\w+)>([^<]*)</")
_UNUSUAL = ("&", "<!", "\r")
"""With one of these in it, text may not mean what it looks like."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """One page of a listing."""

    objects: tuple[S3Object, ...]
    following: str
    """What asks for the next page; empty on the last one."""


def read_page(body: bytes, bucket: str) -> Page:
    """Read one page; ValueError when it is none."""
    found = _usual(body) or _any(body)
    keys: Iterable[str] = found.keys
    if found.texts.get("EncodingType") == "url" and any("%" in key or "+" in key for key in found.keys):
        from urllib.parse import unquote_plus

        keys = map(unquote_plus, found.keys)
    etags = map(_quoted, found.etags)
    objects = [S3Object(bucket, key, int(size), etag) for key, size, etag in zip(keys, found.sizes, etags, strict=True)]
    following = found.texts.get("NextContinuationToken", "") if found.texts.get("IsTruncated") == "true" else ""
    return Page(objects=tuple(objects), following=following)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """The texts of a page, and what its objects say, in order."""

    texts: dict[str, str]
    keys: Sequence[str]
    sizes: Sequence[str]
    etags: Sequence[str | None]


def _usual(body: bytes) -> _Found | None:
    """Find the objects by how they look, in a quarter of the time; None for a page where that may be wrong."""
    try:
        text = body.decode().replace("&quot;", '"').replace("&#34;", '"')
    except UnicodeDecodeError:
        return None
    if any(each in text for each in _UNUSUAL):
        return None
    pieces = _ENTRY.split(text)
    around = _AROUND.fullmatch("".join(pieces[:: _GROUPS + 1]))
    keys, etags, sizes = (pieces[group :: _GROUPS + 1] for group in (1, 2, 3))
    if around is None or None in keys or None in sizes:
        return None
    return _Found(texts=dict(_TEXT.findall(around[1])), keys=keys, sizes=sizes, etags=etags)


def _any(body: bytes) -> _Found:
    from xml.etree.ElementTree import ParseError, fromstring

    try:
        top = fromstring(body)  # noqa: S314  expat has bounds of its own, and this is the S3 that the user trusts
    except ParseError as error:
        raise ValueError(str(error)) from error
    if plain_tag(top.tag) != "ListBucketResult":
        raise ValueError(f"it is a {plain_tag(top.tag)}")
    entries = [
        {plain_tag(each.tag): each.text or "" for each in entry} for entry in top if plain_tag(entry.tag) == "Contents"
    ]
    try:
        keys, sizes = [said["Key"] for said in entries], [said["Size"] for said in entries]
    except KeyError as error:
        raise ValueError(f"an object in it has no {error}") from error
    texts = {plain_tag(each.tag): each.text or "" for each in top}
    return _Found(texts=texts, keys=keys, sizes=sizes, etags=[said.get("ETag") for said in entries])


def _quoted(etag: str | None) -> str | None:
    """As in a header; not every server quotes it in a listing."""
    return f'"{etag}"' if etag and '"' not in etag else etag or None

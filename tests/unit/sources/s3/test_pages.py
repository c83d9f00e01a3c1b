"""A page of a listing says the same however a server writes it down."""

import re
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.sources.s3.interface import S3Object
from smlocal.sources.s3.pages import Page, read_page

SPACE = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
A, B = S3Object("b", "data/a", 1, '"one"'), S3Object("b", "data/b", 20, '"two"')
ENTRIES = (
    "<Contents><Key>data/a</Key><LastModified>2026-01-01T00:00:00Z</LastModified><ETag>&quot;one&quot;</ETag>"
    "<Size>1</Size><Owner><ID>x</ID><DisplayName>y</DisplayName></Owner><StorageClass>STANDARD</StorageClass></Contents>"
    '<Contents><ETag>"two"</ETag><Size>20</Size><Key>data/b</Key></Contents>'
)
HEAD = "<Name>b</Name><Prefix>data/</Prefix><Delimiter/><IsTruncated>true</IsTruncated>"
NEXT = "<NextContinuationToken>n=</NextContinuationToken>"


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"))
DECLARED = '<?xml version="1.0" encoding="UTF-8"?>\n'


def document(inside: str, *, attributes: str = SPACE, declared: str = DECLARED) -> bytes:
    return f"{declared}<ListBucketResult{attributes}>{inside}</ListBucketResult>".encode()


@pytest.mark.parametrize(
    "body",
    [
        document(HEAD + NEXT + ENTRIES),
        document(ENTRIES + HEAD + NEXT),
        document(HEAD + NEXT + ENTRIES, attributes="", declared=""),
        document(HEAD + NEXT + ENTRIES.replace("><", ">\n    <"), declared=""),
        document(HEAD + NEXT + ENTRIES.replace("><", ">\r\n<")),
        document(HEAD + NEXT + ENTRIES.replace("&quot;", "&#34;")),
        document(HEAD + NEXT + ENTRIES.replace("&quot;", "")),
        document(HEAD + NEXT + ENTRIES.replace("data/a", "data&#47;a")),
        document(HEAD + NEXT + ENTRIES.replace("data/a", "<![CDATA[data/a]]>")),
        document(HEAD + NEXT + f"<!-- {ENTRIES} -->" + ENTRIES),
        document(HEAD + NEXT + ENTRIES.replace("<Size>1", "<Size><!-- no -->1")),
        document(HEAD + NEXT + ENTRIES.replace("<Contents>", '<Contents kind="file">')),
        document(HEAD + NEXT + ENTRIES.replace("</Owner>", "</Owner><RestoreStatus><Is>no</Is></RestoreStatus>")),
        document(HEAD + NEXT + ENTRIES + "<CommonPrefixes><Prefix>data/</Prefix></CommonPrefixes>"),
        re.sub(rb"<(/?)(?=\w)", rb"<\1s3:", document(HEAD + NEXT + ENTRIES, attributes=' xmlns:s3="http://x"')),
        b"\xef\xbb\xbf" + document(HEAD + NEXT + ENTRIES),
    ],
    ids=[
        "as S3 writes it",
        "the objects first",
        "plainly",
        "with white space",
        "with the line ends of another system",
        "with numbers for quotes",
        "etags without quotes",
        "with numbers for letters",
        "with CDATA",
        "objects in a comment",
        "a comment in an object",
        "with attributes",
        "with more in an object",
        "with more beside the objects",
        "with a prefix",
        "with a byte order mark",
    ],
)
def test_a_page_is_read(body: bytes) -> None:
    assert read_page(body, "b") == Page(objects=(A, B), following="n=")


def test_the_last_page_has_none_after_it() -> None:
    assert read_page(document(HEAD.replace("true", "false") + NEXT + ENTRIES), "b").following == ""
    assert read_page(document(HEAD), "b") == Page(objects=(), following="")


def test_an_object_without_an_etag() -> None:
    entries = ENTRIES.replace("<ETag>&quot;one&quot;</ETag>", "").replace('"two"', "")
    assert [each.etag for each in read_page(document(entries), "b").objects] == [None, None]


@pytest.mark.parametrize("encoded", ["+", "%20"])
def test_keys_are_encoded_only_where_the_page_says_so(encoded: str) -> None:
    entries = ENTRIES.replace("data/a", f"data/{encoded}%E2%82%AC")
    kind = "<EncodingType>url</EncodingType>"
    assert read_page(document(kind + entries), "b").objects[0].key == "data/ \u20ac"
    assert read_page(document(entries), "b").objects[0].key == f"data/{encoded}%E2%82%AC"


@given(st.lists(st.tuples(NAMES, st.integers(0))))
def test_whatever_the_keys_are(wanted: list[tuple[str, int]]) -> None:
    entries = (f"<Contents><Key>{escape(key)}</Key><Size>{size}</Size></Contents>" for key, size in wanted)
    assert [(each.key, each.size) for each in read_page(document("".join(entries)), "b").objects] == wanted


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "no element"),
        (b"<html><body>Not here", "no element|mismatched"),
        (document(HEAD + ENTRIES)[:-3], "unclosed|no element"),
        (document(HEAD + ENTRIES.replace("</Owner>", "")), "mismatched"),
        (b"<Error><Code>SlowDown</Code></Error>", "it is a Error"),
        (document(ENTRIES.replace("<Key>data/b</Key>", "")), "an object in it has no 'Key'"),
        (document(ENTRIES.replace("<Size>20</Size>", "")), "an object in it has no 'Size'"),
        (document(ENTRIES.replace("20", "many")), "many"),
        ("<ListBucketResult>\u20ac</ListBucketResult>".encode("cp1252"), "invalid token"),
    ],
    ids=["nothing", "HTML", "cut", "an end that is missing", "an error", "no key", "no size", "no number", "not UTF-8"],
)
def test_what_is_no_page(body: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_page(body, "b")


def test_a_page_that_never_ends_an_object_is_given_up() -> None:
    # With two ways to read each of its parts this would take for ever.
    with pytest.raises(ValueError, match="mismatched"):
        read_page(document("<Contents>" + "<Key>a</Key><Owner></Owner>" * 50_000), "b")

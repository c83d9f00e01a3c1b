"""The reader of manifests against `json.loads`, whatever the pieces a manifest arrives in."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.data.sources.manifest_json import ManifestError, manifest_strings

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PREFIX = 's3://b/p/"\\'


def in_pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def read(data: bytes, size: int = 1 << 20) -> list[str]:
    return list(manifest_strings(in_pieces(data, size)))


@given(
    entries=st.lists(TEXT, max_size=6),
    size=st.integers(1, 40),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 0, 2, "\t"]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_every_valid_manifest_reads_as_json_does(
    entries: list[str], size: int, ascii_only: bool, indent: int | str | None, mark: bytes
) -> None:
    document = [{"more": [1, {"x": "]"}], "prefix": PREFIX}, *entries]
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    data = mark + text.encode()
    first, *rest = json.loads(data)
    assert read(data, size) == [first["prefix"], *rest]


@given(data=st.binary(max_size=60) | st.text(alphabet='[]{}",:\\ap1 \n', max_size=30).map(str.encode))
def test_anything_else_is_refused_or_read_as_json_does(data: bytes) -> None:
    results = []
    for size in (1, 7, 1000):
        try:
            results.append(read(data, size))
        except ManifestError:
            results.append([])
    assert results[0] == results[1] == results[2]
    if results[0]:
        first, *rest = json.loads(data)
        assert results[0] == [first["prefix"], *rest]


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("{}", "is not a JSON array"),
        ("s3://b/x\n", "is not a JSON array"),
        ("[]", "has no prefix: its first element must be"),
        ('["a", "b"]', "has no prefix: its first element must be"),
        ('[{"Prefix": "s3://b/"}, "a"]', "has no prefix: its first element must be"),
        ('[{"prefix": ""}, "a"]', "has no prefix: its first element must be"),
        ('[{"prefix": 1}, "a"]', "has no prefix: its first element must be"),
        ('[{"prefix": "s3://b/"', "is not valid JSON: Expecting ',' delimiter in its element 1"),
        ('[{"prefix": "s3://b/"}, "a", 7]', "has no string as its element 3"),
        ('[{"prefix": "s3://b/"}, "a", null]', "has no string as its element 3"),
        ('[{"prefix": "s3://b/"}, {"a": "b"}]', "has no string as its element 2"),
        ('[{"prefix": "s3://b/"}, "a", ]', "has no string as its element 3"),
        ('[{"prefix": "s3://b/"}, "a', "is not valid JSON: Unterminated string starting at in its element 2"),
        ('[{"prefix": "s3://b/"}, "a" "b"]', "is not valid JSON: there is no comma or bracket after its element 2"),
        ('[{"prefix": "s3://b/"}, "a"', "is not valid JSON: there is no comma or bracket after its element 2"),
        ('[{"prefix": "s3://b/"}, "a"] x', "is not valid JSON: there is something after its array"),
        ('[{"prefix": "s3://b/"}, "\\ud800"]', "has invalid Unicode text as its element 2"),
        ('[{"prefix": "s3://b/"}, "a\tb"]', "is not valid JSON: Invalid control character at in its element 2"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str, size: int) -> None:
    with pytest.raises(ManifestError) as caught:
        read(text.encode(), size)
    assert str(caught.value).startswith(words)


def test_what_is_not_utf8_is_said() -> None:
    with pytest.raises(ManifestError, match="it is not UTF-8"):
        read('[{"prefix": "s3://b/"}, "é"]'.encode("latin-1"))


def test_an_endless_string_is_given_up() -> None:
    def endless() -> Iterator[bytes]:
        yield b'[{"prefix": "s3://b/"}, "'
        for _ in range(100):
            yield b"x" * 65_536
        pytest.fail("read on and on")

    with pytest.raises(ManifestError, match="element 2"):
        list(manifest_strings(endless()))


def test_deep_nesting_is_given_up() -> None:
    with pytest.raises(ManifestError, match="nested too deeply in its element 1"):
        read(b'[{"prefix": ' + b"[" * 100_000)

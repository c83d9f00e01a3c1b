"""The coding aws-chunked, in whatever pieces it comes."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.endpoint.objects.received import Chunked
from smlocal.endpoint.objects.s3_documents import S3CallError


def encoded(pieces: list[bytes], trailers: dict[str, str]) -> bytes:
    chunks = b"".join(b"%x;chunk-signature=00\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return chunks + b"0\r\n" + "".join(f"{name}:{value}\r\n" for name, value in trailers.items()).encode() + b"\r\n"


@given(
    st.lists(st.binary(min_size=1, max_size=50), max_size=5),
    st.dictionaries(st.sampled_from(["x-amz-checksum-crc32", "x-amz-trailer-signature"]), st.just("AAAA")),
    st.lists(st.integers(1, 20), max_size=30),
)
def test_the_content_is_the_same_however_it_is_cut(
    pieces: list[bytes], trailers: dict[str, str], cuts: list[int]
) -> None:
    data, decoder, found = encoded(pieces, trailers), Chunked(), b""
    for cut in [*cuts, len(data)]:
        found += decoder.decode(data[:cut])
        data = data[cut:]
    decoder.check_complete()
    assert found == b"".join(pieces)
    assert decoder.trailers == trailers


@given(st.integers(1, 40))
def test_what_is_cut_short_is_not_complete(missing: int) -> None:
    data = encoded([b"hello", b"world"], {})
    decoder = Chunked()
    decoder.decode(data[: -min(missing + len(b"\r\n\r\n"), len(data))])
    with pytest.raises(S3CallError, match="IncompleteBody"):
        decoder.check_complete()


@given(st.binary(max_size=200))
def test_garbage_is_refused_or_incomplete_or_nothing(data: bytes) -> None:
    decoder = Chunked()
    with suppress(S3CallError):
        assert len(decoder.decode(data)) <= len(data)
        decoder.check_complete()

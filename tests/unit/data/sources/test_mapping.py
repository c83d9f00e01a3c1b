import pytest

from smlocal.data.sources.local_path import is_remote, longest_match


@pytest.mark.parametrize("key", ["s3://b/some", "s3://b/some/"])
@pytest.mark.parametrize(
    ("uri", "rest"),
    [
        ("s3://b/some", ""),
        ("s3://b/some/", ""),
        ("s3://b/some/train", "train"),
        ("s3://b/some/train/", "train/"),
        ("s3://b/some//x", "/x"),
    ],
)
def test_a_key_covers_itself_and_what_lies_below(key: str, uri: str, rest: str) -> None:
    match = longest_match(uri, {key: "./d"})
    assert match is not None
    assert (match.key, match.base, match.value, match.rest) == (key, "s3://b/some/", "./d", rest)


@pytest.mark.parametrize("uri", ["s3://b/some-other/x", "s3://b/som", "s3://b", "s3://bb/some/x", "S3://b/some"])
def test_a_key_covers_nothing_beside_or_above(uri: str) -> None:
    assert longest_match(uri, {"s3://b/some/": "./d"}) is None


def test_the_longest_key_wins_whatever_the_order() -> None:
    keys = ["s3://b", "s3://b/a/b/", "s3://b/a"]
    for order in (keys, keys[::-1]):
        mapping = {key: key for key in order}
        match = longest_match("s3://b/a/b/c", mapping)
        assert match is not None
        assert match.key == "s3://b/a/b/"
        match = longest_match("s3://b/a/bc", mapping)
        assert match is not None
        assert match.key == "s3://b/a"


def test_a_whole_bucket_can_be_mapped() -> None:
    match = longest_match("s3://b", {"s3://b/": "./d"})
    assert match is not None
    assert match.rest == ""


@pytest.mark.parametrize(
    ("uri", "remote"),
    [
        ("s3://b/x", True),
        ("https://h/x", True),
        ("file:///x", False),
        ("./x", False),
        ("a b://x", False),
        ("c:x", False),
    ],
)
def test_remote_is_any_scheme_but_file(uri: str, remote: bool) -> None:
    assert is_remote(uri) is remote

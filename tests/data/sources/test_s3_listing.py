"""The selection of a channel from S3; a folder in its place selects the same."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kit.s3_servers import REGION, S3Server, environment, opened, reserve_port

from smlocal.errors import CredentialsMissingError, S3UnreachableError, SourceEmptyError
from smlocal.sagemaker.contract.documents.config_files import manifest
from smlocal.terms.listing import Listing, Shard

Lister = Callable[..., Listing]
TREE = [
    "B",
    "_1/x",
    "_10",
    "_2",
    "a-b",
    "a.b",
    "a/b",
    "a/c/d",
    "a0",
    "é/\U0001f600",
    "\ue000",
    "train.csv",
    "train-01/x",
]


@pytest.fixture
def both(s3: S3Server, bucket: str, tmp_path: Path) -> tuple[str, dict[str, str]]:
    """The same tree in S3, below `in/`, and in a folder: the bucket, and what puts the folder in its place."""
    for name in TREE:
        s3.put(bucket, f"in/{name}", name.encode())
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(name.encode())
    return bucket, {f"s3://{bucket}/in": str(tmp_path)}


@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
@pytest.mark.parametrize("kind", ["S3Prefix", "Converse"])
def test_a_folder_selects_what_s3_selects(
    both: tuple[str, dict[str, str]], channel_of: Lister, mode: str, kind: str
) -> None:
    bucket, mapping = both
    for prefix in ("in", "in/", "in/a", "in/a/", "in/_1", "in/train", "in/train.csv", "in/train-01", "in/a/c", "in/é"):
        uri = f"s3://{bucket}/{prefix}"
        there = channel_of(uri, kind=kind, mode=mode)
        here = channel_of(uri, mapping, kind=kind, mode=mode)
        assert there.remote
        assert not here.remote
        assert (there.paths, there.failure) == (here.paths, here.failure)
        assert (there.prefix, there.bucket_uri) == (here.prefix, here.bucket_uri) == (prefix, f"s3://{bucket}/")
        assert there.total_bytes == here.total_bytes == sum(there.sizes)
        if there.failure is None:
            assert there.key_base == here.key_base
            assert manifest(there) == manifest(here)
            assert there.dealt_to(Shard(index=1, count=2)).paths == here.dealt_to(Shard(index=1, count=2)).paths


def test_the_order_is_that_of_utf8_bytes(both: tuple[str, dict[str, str]], channel_of: Lister) -> None:
    bucket, _ = both
    assert channel_of(f"s3://{bucket}/in").paths == tuple(sorted(TREE, key=str.encode))


def test_sizes_and_etags_come_with_the_listing(s3: S3Server, bucket: str, channel_of: Lister) -> None:
    etags = [s3.put(bucket, f"in/{name}", b"x" * size) for size, name in enumerate("abc")]
    listing = channel_of(f"s3://{bucket}/in/")
    assert (list(listing.sizes), list(listing.etags), listing.total_bytes) == ([0, 1, 2], etags, 3)
    assert (listing.root, listing.whole_tree, listing.directories) == ("", True, ())


@pytest.mark.parametrize("strict", [True, False])
def test_a_prefix_may_be_one_object(s3: S3Server, bucket: str, channel_of: Lister, strict: bool) -> None:
    s3.put(bucket, "out/model.tar.gz", b"12345")
    listing = channel_of(f"s3://{bucket}/out/model.tar.gz", strict=strict)
    assert (listing.paths, listing.key_base, listing.total_bytes) == (("model.tar.gz",), "out/", 5)


def test_folder_markers_and_odd_keys(s3: S3Server, bucket: str, channel_of: Lister) -> None:
    s3.skip_on("rclone", "its keys are paths of a file system")
    for key in ("in/", "in/e/", "in/f/", "in/f/x"):
        s3.put(bucket, key)
    for mode in ("File", "FastFile"):
        listing = channel_of(f"s3://{bucket}/in", mode=mode)
        assert (listing.paths, listing.directories, listing.failure) == (("f/x",), ("e",), None)
    assert channel_of(f"s3://{bucket}/in/e").paths == ()
    s3.put(bucket, "in/f//y")
    words = f"Failed to download data. S3 key: s3://{bucket}/in/f//y has an illegal char sub-sequence '//' in it"
    assert channel_of(f"s3://{bucket}/in").failure == words
    assert channel_of(f"s3://{bucket}/in", mode="Pipe").paths == ("f//y", "f/x")
    s3.put(bucket, "up/../x")
    assert "has an illegal path component '..' in it" in str(channel_of(f"s3://{bucket}/up/").failure)
    s3.put(bucket, "clash/a")
    s3.put(bucket, "clash/a/b")
    assert "needs a path that" in str(channel_of(f"s3://{bucket}/clash/").failure)
    s3.put(bucket, "/lead")
    assert channel_of(f"s3://{bucket}//").paths == ("lead",)


def test_fastfile_and_a_partial_prefix(s3: S3Server, bucket: str, channel_of: Lister) -> None:
    s3.put(bucket, "a/train-baseline/x.csv")
    listing = channel_of(f"s3://{bucket}/a/train", mode="FastFile")
    assert listing.failure == (
        "Failed to download data. For FastFile mode, partial S3 prefix is not supported. S3 prefix has to end with a "
        "full file or folder. Add a trailing '/' to the S3 prefix if it ends with a folder name that is also a prefix "
        "for other folders. Current S3 prefix: [a/train], found S3 object: [a/train-baseline/x.csv]."
    )
    assert listing.paths == ()


@pytest.mark.parametrize("kind", ["S3Prefix", "ManifestFile", "AugmentedManifestFile"])
def test_nothing_there_is_refused_in_the_words_of_the_service(
    s3: S3Server, bucket: str, channel_of: Lister, kind: str
) -> None:
    s3.put(bucket, "present")
    with pytest.raises(SourceEmptyError) as caught:
        channel_of(f"s3://{bucket}/absent", kind=kind)
    assert caught.value.sentence == (
        f'No S3 objects found under S3 URL "s3://{bucket}/absent" given in input data source. Please ensure that the '
        f"bucket exists in the selected region ({REGION}), that objects exist under that S3 prefix, and that the role "
        f'"arn:aws:iam::111122223333:role/r" has "s3:ListBucket" permissions on bucket "{bucket}".'
    )


@pytest.mark.parametrize("kind", ["S3Prefix", "ManifestFile", "AugmentedManifestFile"])
def test_what_s3_says_is_added(channel_of: Lister, kind: str) -> None:
    with pytest.raises(SourceEmptyError) as caught:
        channel_of("s3://no-such-bucket-anywhere/x", kind=kind)
    said = caught.value.sentence.partition(' permissions on bucket "no-such-bucket-anywhere".')[2]
    assert said in {
        " Error message from S3: The specified bucket does not exist",
        " Error message from S3: The specified bucket does not exist.",
    }


def test_wrong_credentials_are_this_machines_fault(s3: S3Server, bucket: str, channel_of: Lister) -> None:
    s3.skip_on("moto", "it accepts any secret")
    wrong = {**s3.environment, "AWS_SECRET_ACCESS_KEY": "wrong"}
    client = opened(wrong, retry_seconds=5)
    with pytest.raises(CredentialsMissingError, match="S3 rejects these AWS credentials"):
        channel_of(f"s3://{bucket}/x", client=client)
    client.close()


def test_silence_is_this_machines_fault(channel_of: Lister) -> None:
    with reserve_port() as nobody:
        client = opened(environment(f"http://127.0.0.1:{nobody.getsockname()[1]}"), retry_seconds=1)
        for kind in ("S3Prefix", "ManifestFile"):
            with pytest.raises(S3UnreachableError, match="S3 is unreachable"):
                channel_of("s3://bucket/x", kind=kind, client=client)
        client.close()


@pytest.mark.parametrize("mode", ["File", "Pipe"])
def test_a_manifest_in_s3_and_one_here_select_the_same(
    s3: S3Server, both: tuple[str, dict[str, str]], channel_of: Lister, tmp_path: Path, mode: str
) -> None:
    bucket, mapping = both
    entries = ["train.csv", "a/c/d", "a/b", "é/\U0001f600", "a/b"]
    s3.put(bucket, "m/list.manifest", json.dumps([{"prefix": f"s3://{bucket}/in/"}, *entries]).encode())
    there = channel_of(f"s3://{bucket}/m/list.manifest", kind="ManifestFile", mode=mode)
    half = channel_of(f"s3://{bucket}/m/list.manifest", mapping, kind="ManifestFile", mode=mode)
    file = tmp_path / "list.manifest"
    file.write_text(json.dumps([{"prefix": f"s3://{bucket}/in/"}, *entries]))
    here = channel_of(str(file), mapping, kind="ManifestFile", mode=mode)
    expected = tuple(entries if mode == "Pipe" else entries[:-1])
    assert there.paths == half.paths == here.paths == expected
    assert manifest(there) == manifest(half) == manifest(here)
    assert [listing.remote for listing in (there, half, here)] == [True, False, False]
    assert (there.sizes, there.etags, there.total_bytes, there.failure) == ((), (), None, None)


def test_a_manifest_must_be_named_in_full(s3: S3Server, bucket: str, channel_of: Lister) -> None:
    s3.put(bucket, "m/list.manifest", b'[{"prefix": "s3://b/"}, "x"]')
    for kind in ("ManifestFile", "AugmentedManifestFile"):
        with pytest.raises(SourceEmptyError) as caught:
            channel_of(f"s3://{bucket}/m/list", kind=kind)
        assert caught.value.remedy == (f"Did you mean s3://{bucket}/m/list.manifest?",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"not json", "is not a JSON array"),
        (b"", "is empty"),
        (b'[{"prefix": "./here/"}, "x"]', "has a prefix that is not an S3 URI: ./here/"),
        (b'[{"prefix": "s3://b/"}]', "names no object"),
    ],
)
def test_a_bad_manifest_fails_the_download(
    s3: S3Server, bucket: str, channel_of: Lister, text: bytes, words: str
) -> None:
    s3.put(bucket, "m.json", text)
    listing = channel_of(f"s3://{bucket}/m.json", kind="ManifestFile")
    assert listing.failure == f"Failed to download data. Manifest file: s3://{bucket}/m.json {words}"


def test_a_manifest_of_many_pieces(s3: S3Server, bucket: str, channel_of: Lister) -> None:
    names = [f"{number:07}/{'x' * 40}.jpg" for number in range(60_000)]
    s3.put(bucket, "m.json", json.dumps([{"prefix": "s3://elsewhere/p/"}, *names], indent=2).encode())
    listing = channel_of(f"s3://{bucket}/m.json", kind="ManifestFile")
    assert listing.failure is None
    assert listing.paths == tuple(names)


def test_an_augmented_manifest_is_one_object(s3: S3Server, bucket: str, channel_of: Lister) -> None:
    etag = s3.put(bucket, "m.jsonl", b'{"a": 1}\n')
    s3.put(bucket, "m.jsonl.bak", b"")
    listing = channel_of(f"s3://{bucket}/m.jsonl", kind="AugmentedManifestFile", mode="Pipe")
    assert (listing.paths, listing.sizes, listing.etags) == (("m.jsonl",), (9,), (etag,))
    assert (listing.prefix, listing.key(0), listing.remote) == ("m.jsonl", "m.jsonl", True)


NAMES = st.text(alphabet="ab-._~0é\ue000\U0001f600 ", min_size=1, max_size=2).filter(
    lambda name: name not in {".", ".."}
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@pytest.fixture
def moto_only(s3: S3Server) -> S3Server:
    s3.skip_on("rclone", "a folder of it is a file system again")
    return s3


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths=st.lists(PATHS, min_size=1, max_size=8, unique=True), prefix=st.text(alphabet="ab-", max_size=1))
def test_any_tree_is_listed_alike(
    moto_only: S3Server, tmp_path_factory: pytest.TempPathFactory, channel_of: Lister, paths: list[str], prefix: str
) -> None:
    folder, bucket = tmp_path_factory.mktemp("tree"), moto_only.make_bucket()
    kept = [path for path in paths if not any(other.startswith(f"{path}/") for other in paths)]
    for path in kept:
        moto_only.put(bucket, f"in/{path}", path.encode())
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)
    uri = f"s3://{bucket}/in/{prefix}"
    for mode in ("File", "FastFile", "Pipe"):
        try:
            there = channel_of(uri, mode=mode)
        except SourceEmptyError:
            with pytest.raises(SourceEmptyError):
                channel_of(uri, {f"s3://{bucket}/in/": str(folder)}, mode=mode)
            continue
        here = channel_of(uri, {f"s3://{bucket}/in/": str(folder)}, mode=mode)
        assert (there.paths, there.failure) == (here.paths, here.failure)
        assert there.failure is not None or there.key_base == here.key_base

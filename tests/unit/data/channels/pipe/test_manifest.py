"""Augmented manifests: the parts of their lines that are sent, their order, and mistakes in some."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sagemaker_training.recordio import _read_recordio  # type: ignore[import-untyped] # published without types

from smlocal.data.channels.pipe.manifest import Manifest
from smlocal.data.channels.pipe.object_bytes import FeedError
from smlocal.data.sources.local_listing import list_source
from smlocal.errors import StagingError
from smlocal.terms.channels import PipePlan
from smlocal.terms.listing import Shard

Feeding = Callable[..., Any]


def lines(*documents: object) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def failed(feeding: Feeding, manifest: bytes, *attributes: str, **plan: Any) -> str:
    with pytest.raises(StagingError) as caught:
        feeding({"m.jsonl": manifest}, attributes=attributes, **plan)
    sentence = caught.value.sentence
    start = "Data download failed:Failed to download data. Augmented manifest file://"
    assert sentence.startswith(start)
    return sentence.partition("/m.jsonl is not valid: ")[2]


def test_values_are_sent_in_the_order_of_the_names(feeding: Feeding) -> None:
    manifest = lines({"b": 2, "skipped": [1], "a": "one "}, {"a": "three ", "b": 4.5})
    assert feeding({"m.jsonl": manifest}, attributes=("a", "b")).read(0) == b"one 2three 4.5"


def test_a_value_is_sent_as_its_line_writes_it(feeding: Feeding) -> None:
    written = ["1.50", "1e5", "[1,  2]", '{"b": {"c":null}}', "true", "123456789012345678901234567890", '["\\u00e9"]']
    manifest = "".join(f' {{ "x" :{value} , "y": 1}}\r\n' for value in written).encode()
    assert feeding({"m.jsonl": manifest}, attributes=("x",)).read(0).decode() == "".join(written)


def test_a_string_is_sent_bare(feeding: Feeding) -> None:
    manifest = '{"x": "gr\\u00fc\\u00df \\"dich\\"\\n"}\n{"x": "ü"}'.encode()
    assert feeding({"m.jsonl": manifest}, attributes=("x",)).read(0).decode() == 'grüß "dich"\nü'


@pytest.mark.parametrize(("count", "sent"), [(2, b"12"), (9, b"123")])
def test_of_a_sample_the_first_lines_are_sent(feeding: Feeding, count: int, sent: bytes) -> None:
    manifest = lines({"x": 1}, {"x": 2}, {"x": 3})
    assert feeding({"m.jsonl": manifest}, attributes=("x",), lines=count).read(0) == sent


def test_what_a_reference_names_is_sent(feeding: Feeding, tmp_path: Path) -> None:
    mapped = tmp_path / "mapped"
    (mapped / "deep").mkdir(parents=True)
    (mapped / "deep" / "1.jpg").write_bytes(b"<in the mapped folder>")
    (tmp_path / "only.jpg").write_bytes(b"<the mapped file>")
    files = {
        "m.jsonl": lines(
            {"image-ref": "s3://bucket/images/deep/1.jpg", "label": 1},
            {"image-ref": "s3://bucket/one/only.jpg", "label": 2},
            {"image-ref": "beside/2.jpg", "label": 3},
            {"image-ref": f"file://{tmp_path}/only.jpg", "label": 4},
        ),
        "beside/2.jpg": b"<beside the manifest>",
    }
    sources = {"s3://bucket/images": str(mapped), "s3://bucket/one/only.jpg": str(tmp_path / "only.jpg")}
    feed = feeding(files, attributes=("image-ref", "label"), sources=sources)
    expected = b"<in the mapped folder>1<the mapped file>2<beside the manifest>3<the mapped file>4"
    assert feed.read(0) == feed.read(1) == expected


def test_a_manifest_that_may_not_name_files_is_refused_with_its_line(feeding: Feeding) -> None:
    files = {"m.jsonl": lines({"x-ref": "s3://b/x"}, {"x-ref": "./beside"}), "beside": b"secret"}
    with pytest.raises(StagingError, match=r"line 2 has no S3 URI of an object as 'x-ref': \./beside$"):
        feeding(files, attributes=("x-ref",), names_files=False)


def test_a_manifest_of_a_mapped_bucket_names_no_paths(tmp_path: Path) -> None:
    """They could lead out of the folder of the bucket."""
    bucket = tmp_path / "bucket"
    bucket.mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    sources = {"s3://bucket": str(bucket)}
    for value in ("../secret", f"file://{tmp_path}/secret", str(tmp_path / "secret"), "beside"):
        (bucket / "m.jsonl").write_bytes(lines({"x-ref": value}))
        uri = "s3://bucket/m.jsonl"
        listing = list_source(uri, channel="train", directory="/", mapping=sources, region="r", role="a")
        plan = PipePlan(name="t", uri=uri, target="/t", listing=listing, attributes=("x-ref",), sources=sources)
        with pytest.raises(FeedError, match="line 1 has no S3 URI of an object as 'x-ref'"):
            Manifest(plan, f"{listing.root}/{listing.paths[0]}")


def test_every_attribute_is_a_record_of_its_own(feeding: Feeding) -> None:
    files = {"m.jsonl": lines({"x-ref": "1", "y": "abc"}, {"x-ref": "2", "y": ""}), "1": b"one", "2": b""}
    read = feeding(files, attributes=("x-ref", "y"), record_io=True).read(0)
    assert list(_read_recordio(io.BytesIO(read))) == [b"one", b"abc", b"", b""]


def test_lines_are_shuffled_and_dealt_out_whole(feeding: Feeding) -> None:
    documents = [{"a": f"{number} ", "b": f"{number}\n"} for number in range(30)]
    feeds = [
        feeding(
            {"m.jsonl": lines(*documents)}, name=f"h{i}", attributes=("a", "b"), seed=3, shard=Shard(index=i, count=2)
        )
        for i in range(2)
    ]
    seen = []
    for epoch in range(2):
        read = [feed.read(epoch).decode().splitlines() for feed in feeds]
        assert [len(share) for share in read] == [15, 15]
        assert sorted(read[0] + read[1]) == sorted(f"{number} {number}" for number in range(30))
        seen.append(read)
    assert seen[0] != seen[1]


def test_blank_lines_do_not_count(feeding: Feeding) -> None:
    manifest = b"\n" + lines({"a": 1}) + b"\r\n  \n" + lines({"a": 2}) + b"\n\n"
    assert feeding({"m.jsonl": manifest}, attributes=("a",)).read(0) == b"12"
    assert feeding({"empty.jsonl": b"\n"}, attributes=("a",), name="empty").read(0) == b""


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b"{'x': 1}", "is not valid JSON"),
        (b'{"x": 1} {"x": 1}', "is not valid JSON"),
        (b'{"x": 1', "is not valid JSON"),
        (b'{"x": 1,}', "is not valid JSON"),
        (b"{x: 1}", "is not valid JSON"),
        (b'{"x": NaN}', "is not valid JSON"),
        (b'{"x": "\xff"}', "is not valid JSON"),
        (b'{"x": "\\ud800"}', "is not valid JSON"),
        (b'{"x": ' + b"[" * 100_000 + b"}", "is not valid JSON"),
        (b"[1]", "is not a JSON object"),
        (b'"x"', "is not a JSON object"),
        (b'{"X": 1}', "has no attribute 'x'"),
        (b"{}", "has no attribute 'x'"),
    ],
)
def test_a_line_that_is_wrong_fails_the_download(feeding: Feeding, bad: bytes, why: str) -> None:
    assert failed(feeding, b'{"x": 1}\n\n' + bad + b"\n", "x") == f"line 3 {why}"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (1, "has no URI as 'x-ref'"),
        (None, "has no URI as 'x-ref'"),
        ("", "has no URI as 'x-ref'"),
        ("a\0b", "has no URI as 'x-ref'"),
        ("http://host/a", "has no S3 URI of an object as 'x-ref': http://host/a"),
        ("s3://bucket", "has no S3 URI of an object as 'x-ref': s3://bucket"),
        ("s3://bucket/", "has no S3 URI of an object as 'x-ref': s3://bucket/"),
        ("s3:///key", "has no S3 URI of an object as 'x-ref': s3:///key"),
    ],
)
def test_a_reference_that_is_no_uri_fails_the_download(feeding: Feeding, value: object, why: str) -> None:
    assert failed(feeding, lines({"x-ref": value}), "x-ref") == f"line 1 {why}"


def test_a_line_without_an_end_fails_the_download(feeding: Feeding) -> None:
    assert failed(feeding, b'{"x": 1}\n' + bytes(17 << 20), "x") == "line 2 is longer than 16777216 bytes"


@pytest.mark.parametrize("key", ["../outside", "a/../../outside", "a//b", "./a"])
def test_a_key_that_no_mapped_folder_can_hold(feeding: Feeding, key: str) -> None:
    with pytest.raises(StagingError) as caught:
        feeding({"m.jsonl": lines({"x-ref": f"s3://b/p/{key}"})}, attributes=("x-ref",), sources={"s3://b/p": "/tmp"})
    assert caught.value.sentence == (
        f"Data download failed:Unable to download object s3://b/p/{key} (NoSuchKey: The specified key does not exist.)"
    )


def test_a_missing_object_breaks_the_feed_when_its_turn_comes(feeding: Feeding, tmp_path: Path) -> None:
    manifest = lines({"x-ref": "m.jsonl"}, {"x-ref": "s3://b/p/gone"})
    feed = feeding({"m.jsonl": manifest}, attributes=("x-ref",), sources={"s3://b/p/": str(tmp_path)})
    with feed.fifo(0).open("rb", buffering=0):
        assert feed.reason() == (
            "ClientError: Data download failed:Unable to download object s3://b/p/gone "
            "(NoSuchKey: The specified key does not exist.)"
        )


def test_a_manifest_that_changes_breaks_the_feed(feeding: Feeding) -> None:
    feed = feeding({"m.jsonl": lines({"x": 1})}, attributes=("x",))
    assert feed.read(0) == b"1"
    (feed.source / "m.jsonl").write_bytes(lines({"x": 1}, {"x": 2}))
    with feed.fifo(1).open("rb", buffering=0):
        assert feed.reason().startswith("ClientError: Data download failed:Unable to download object file://")


MILLION = """
import re, sys
from pathlib import Path
from smlocal.data.channels.pipe.feeder import PipeFeeder
from smlocal.jobs.planning.model import PipePlan
from smlocal.data.sources.local_listing import list_source
folder = sys.argv[1]
listing = list_source(folder + "/m", channel="c", directory="/", mapping={}, region="r", role="a")
plan = PipePlan(name="c", uri="", target="/c", listing=listing, attributes=("y",), seed=1, record_io=True)
feeder = PipeFeeder(plan, directory=folder, spool=folder + "/spool", store=None, broken=print)
feeder.prepare()
feeder.start()
with open(folder + "/c_0", "rb") as fifo:
    print(len(fifo.read(100_000)))
feeder.stop()
# Not ru_maxrss, which begins with what the parent of the process had.
print(int(re.search(r"VmHWM:\\s+([0-9]+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.slow(8)
@pytest.mark.linux("the kernel tells the memory of this moment")
def test_a_million_lines_need_little_memory(tmp_path: Path) -> None:
    with (tmp_path / "m").open("w") as file:
        file.writelines(
            f'{{"x-ref": "s3://bucket/some/prefix/{number:09}.jpg", "y": {number:4}}}\n' for number in range(10**6)
        )
    done = subprocess.run([sys.executable, "-c", MILLION, tmp_path], capture_output=True, text=True, check=True)
    size, peak = map(int, done.stdout.split())
    assert size == 100_000
    assert peak < 200

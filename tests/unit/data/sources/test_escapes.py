"""Whatever the keys, nothing is ever put outside the channel: 10,000 of them, really written."""

import json
import os
import random
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

from smlocal.data.sources.s3.interface import S3Object
from smlocal.data.sources.selection import select
from smlocal.terms.listing import Listing

KEYS = 10_000
TAME = [
    *("...", "..a", "a", "b", "c", "data", "~", "-", " ", "*", "\\..", "%2e%2e", "é", "\U0001f600", "..\u2044x"),
    "x" * 255,
]
WILD = [
    *TAME,
    "..",
    ".",
    "",
    "a\0",
    "\0",
    "etc",
    "passwd",
    "..\\x",
    "\u202e",
    "a\nb",
    "x" * 256,
    "é" * 128,
    "CON",
    "a:b",
]
PREFIXES = ["", "in/", "in", "in/a", "..", "../", "/", "a", "./"]


def generated(chance: random.Random, prefix: str, parts: list[str]) -> str:
    """A key of the prefix; a tame one can be a file below it."""
    start = prefix + ("/" if parts is TAME and not prefix.endswith("/") else chance.choice(["", "", "/"]))
    return (
        start
        + "/".join(chance.choices(parts, k=chance.randint(1, 5)))
        + chance.choice(["", "", "", "/" * (parts is WILD)])
    )


def everything(folder: Path) -> set[str]:
    return {os.path.join(above, name) for above, *names in os.walk(folder) for name in chain(*names)}


def put(channel: Path, found: Listing, size: int) -> None:
    """Make what was selected, by names glued together as a downloader does."""
    for path in found.paths:
        file = f"{channel}/{path}"
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "xb") as new:
            new.write(b"x" * size)
    for path in found.directories:
        os.makedirs(f"{channel}/{path}", exist_ok=True)


@pytest.mark.parametrize("size", [pytest.param(0, marks=pytest.mark.slow(1)), 1])
def test_no_key_is_put_outside_its_channel(tmp_path: Path, size: int) -> None:
    chance = random.Random(4711 + size)
    seen = staged = batch = 0
    while seen < KEYS:
        batch += 1
        prefix, parts = chance.choice(PREFIXES), chance.choice([TAME, WILD])
        # Alone half of the time: one bad key fails all of them.
        keys = sorted({generated(chance, prefix, parts) for _ in range(chance.choice([1, 15]))})
        seen += len(keys)
        listed = [S3Object(bucket="b", key=key, size=size) for key in keys]
        piped = select(listed, bucket_uri="s3://b/", prefix=prefix, mode="Pipe")
        found = select(listed, bucket_uri="s3://b/", prefix=prefix, mode="File")
        assert piped is not None
        assert found is not None
        assert piped.failure is None
        if found.failure is not None:
            continue
        channel = tmp_path / str(batch) / "input" / "channel"
        channel.mkdir(parents=True)
        put(channel, found, size)
        assert everything(tmp_path / str(batch)) - everything(channel) == {f"{channel.parent}", f"{channel}"}
        files = {path for path in everything(channel) if os.path.isfile(path)}
        assert files == {f"{channel}/{path}" for path in found.paths}
        assert everything(channel) >= {f"{channel}/{path}" for path in found.directories}
        staged += len(files)
    assert sorted(os.listdir(tmp_path)) == sorted({name for name in os.listdir(tmp_path) if name.isdecimal()})
    assert staged > 500


@pytest.mark.slow
def test_manifests_cannot_reach_out_of_a_folder_either(
    tmp_path: Path, channel_of: Callable[..., Listing], fill: Callable[..., Path]
) -> None:
    fill("a", "b", "data/a", "~", "...", "..a")
    fill("secret", "a", "b", below="beside")
    (tmp_path / "beside" / "etc").mkdir()
    chance = random.Random(4711)
    manifest = tmp_path / "manifest.json"
    copied = 0
    for _ in range(1_500):
        prefix = chance.choice(["s3://b/in/", "s3://b/in", "s3://b/in/../beside/", "s3://b/in/..", "s3://b/in/a"])
        names = [chance.choice(["", "/"]) + "/".join(chance.choices([*WILD, "..", "beside"], k=chance.randint(1, 3)))]
        manifest.write_text(json.dumps([{"prefix": prefix}, *names]))
        for mode in ("File", "Pipe"):
            listing = channel_of("manifest.json", {"s3://b/in/": "./data"}, kind="ManifestFile", mode=mode)
            assert not listing.remote or not listing.paths or prefix in {"s3://b/in", "s3://b/in/..", "s3://b/in/a"}
            for index in range(len(listing.paths) if not listing.remote else 0):
                assert os.path.realpath(listing.file(index)).startswith(f"{tmp_path}/data/")
                copied += 1
    assert copied > 20

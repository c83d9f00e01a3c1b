"""One object of S3, in one of three ways: `mount`, `stream` or `download`, RESULT FOLDER."""

import os
import sys
import time

from smlocal.data.channels.fastfile.mount import FuseMount
from smlocal.data.sources.s3.client import S3Client, open_store
from smlocal.data.sources.s3.download import download_all
from smlocal.data.sources.s3.interface import S3Object
from smlocal.data.sources.s3.object_stream import ObjectStream
from smlocal.terms.listing import Listing
from smlocal.terms.rights import EVERYTHING


def mount(wanted: S3Object, folder: str) -> tuple[float, ...]:
    """Through a FastFile mount: seconds until the first byte, seconds for all, and the server's peak of memory."""
    assert wanted.size is not None
    assert wanted.etag is not None
    listing = Listing(
        root="",
        bucket_uri="s3://bucket/",
        prefix="",
        key_base="",
        paths=["object"],
        sizes=[wanted.size],
        etags=[wanted.etag],
        total_bytes=wanted.size,
        whole_tree=False,
    )
    mounted = FuseMount.start(listing, region="eu-west-1", directory=folder, died=sys.exit)
    try:
        buffer = bytearray(1 << 20)
        began = time.perf_counter()
        with open(f"{mounted.mount_point}/object", "rb", buffering=0) as file:
            count = len(file.read(1))
            first = time.perf_counter() - began
            while more := file.readinto(buffer):
                count += more
            took = time.perf_counter() - began
        assert count == wanted.size
        with open(f"/proc/{mounted._process.pid}/status", encoding="utf-8") as status:  # noqa: SLF001 - its memory
            peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
        return first, took, peak
    finally:
        mounted.stop()


def stream(store: S3Client, wanted: S3Object) -> float:
    """To nowhere, with what feeds pipes."""
    began = time.perf_counter()
    opened = ObjectStream(store, [wanted])
    opened.open_next()
    count = 0
    while more := len(opened.read()):
        count += more
    took = time.perf_counter() - began
    assert count == wanted.size
    return took


def download(store: S3Client, wanted: S3Object, folder: str) -> float:
    os.mkdir(folder)
    began = time.perf_counter()
    download_all(store, [(wanted, f"{folder}/object")])
    return time.perf_counter() - began


def main(way: str, result: str, folder: str) -> None:
    store = open_store("eu-west-1", rights=EVERYTHING)
    wanted = store.head("bucket", "object")
    assert wanted is not None
    if way == "mount":
        figures = mount(wanted, folder)
    elif way == "stream":
        figures = (stream(store, wanted),)
    else:
        figures = (download(store, wanted, folder),)
    with open(result, "w", encoding="utf-8") as file:
        file.write(" ".join(map(str, figures)))


if __name__ == "__main__":
    main(*sys.argv[1:])

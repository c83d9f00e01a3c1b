"""Read an object through a FastFile mount."""

import sys
import time
from pathlib import Path

from smlocal.data.channels.fastfile.mount import FuseMount
from smlocal.data.sources.s3.client import open_store
from smlocal.terms.listing import Listing
from smlocal.terms.rights import EVERYTHING

result, folder = sys.argv[1:]
wanted = open_store("eu-west-1", rights=EVERYTHING).head("bucket", "object")
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
mount = FuseMount.start(listing, region="eu-west-1", directory=folder, died=sys.exit, rights=EVERYTHING)
try:
    buffer = bytearray(1 << 20)
    began = time.perf_counter()
    with open(f"{mount.mount_point}/object", "rb", buffering=0) as file:
        count = len(file.read(1))
        first = time.perf_counter() - began
        while more := file.readinto(buffer):
            count += more
        took = time.perf_counter() - began
    assert count == wanted.size
    status = Path(f"/proc/{mount._process.pid}/status").read_text()  # noqa: SLF001 - the memory of its server is measured
    peak = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    Path(result).write_text(f"{first} {took} {peak}")
finally:
    mount.stop()

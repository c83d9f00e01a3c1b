"""How fast objects come from S3 into files, against boto3's `download_file` for one after the other.

That is what the SDK's local mode does. Both sides read from the same rclone server on this machine, and write to the
same disk; each is a process of its own that is timed inside, imports and clients not counted, from the listing or the
first key on to the last file. Our peak of memory is that of the whole process.
"""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from measure import Samples, alternate, execute, progress
from results import Figure, Size, comparison, main, megabytes, spread
from workplace import BIN, Workplace, workplace

LARGE_BOUND = 0.5
SMALL_BOUND = 0.333
"""Of the time: at least twice, and three times, the speed."""
MEMORY_BOUND = 200e6
LARGE_MEGABYTES = 1024
SMALL_COUNT = 5000
SMALL_BYTES = 20 << 10

OURS = """
import os, sys, time
from smlocal.sources.s3.client import open_store
from smlocal.sources.s3.download import download_all
prefix, target, result = sys.argv[1:]
store = open_store("eu-west-1")
began = time.perf_counter()
found = store.list_objects("bucket", prefix)
download_all(store, ((each, f"{target}/{os.path.basename(each.key)}") for each in found))
took = time.perf_counter() - began
with open(result, "w") as file:
    file.write(str(took))
"""
BOTO3 = """
import os, sys, time, boto3
prefix, target, result = sys.argv[1:]
client = boto3.client("s3")
client.list_buckets()
began = time.perf_counter()
for page in client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix):
    for each in page["Contents"]:
        client.download_file("bucket", each["Key"], f"{target}/{os.path.basename(each['Key'])}")
took = time.perf_counter() - began
with open(result, "w") as file:
    file.write(str(took))
"""
KEYS = ("benchmarkkey", "benchmarksecret")


def measure_large(size: Size) -> list[Figure]:
    count = size.of(LARGE_MEGABYTES)
    with workplace() as place:
        progress(f"making {count} MiB")
        folder = place.folder / "bucket" / "large"
        folder.mkdir(parents=True)
        piece = bytes(range(256)) * 4096
        with (folder / "object").open("wb") as file:
            for number in range(count):
                file.write(number.to_bytes(8, "big") + piece[8:])
        return _compare(place, size, f"File from S3, one object of {count} MiB", "large/", LARGE_BOUND)


def measure_small(size: Size) -> list[Figure]:
    count = size.of(SMALL_COUNT)
    with workplace() as place:
        progress(f"making {count} objects")
        folder = place.folder / "bucket" / "small"
        folder.mkdir(parents=True)
        for number in range(count):
            (folder / f"{number:06}").write_bytes(number.to_bytes(8, "big") * (SMALL_BYTES // 8))
        return _compare(place, size, f"File from S3, {count:,} objects of 20 KiB", "small/", SMALL_BOUND)


def _compare(place: Workplace, size: Size, what: str, prefix: str, bound: float) -> list[Figure]:
    peaks: list[float] = []

    def run(program: str) -> float:
        place.output.mkdir()
        result = place.folder / "seconds"
        ended = execute([BIN / "python", "-c", program, prefix, place.output, result], environment=environment)
        if program is OURS:
            peaks.append(ended.peak_bytes)
        place.clear()
        return float(result.read_text())

    with _server(place) as address:
        environment = {**place.environment, **_configuration(address)}
        ours, theirs = alternate(lambda: run(OURS), lambda: run(BOTO3), rounds=size.rounds, name=what)
    peak = Samples(values=tuple(peaks))
    return [
        comparison(f"{what} ÷ boto3 `download_file`", ours, theirs, bound),
        Figure(
            what=f"peak memory, {what}",
            ours=spread(peak, megabytes),
            theirs="",
            figure=megabytes(peak.highest),
            bound=megabytes(MEMORY_BOUND),
            met=peak.highest <= MEMORY_BOUND,
        ),
    ]


@contextmanager
def _server(place: Workplace) -> Iterator[str]:
    """rclone's server of what is in the workplace, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    command = [BIN / "rclone", "--config", os.devnull, "serve", "s3", "--addr", address]
    command += ["--auth-key", ",".join(KEYS), "--read-only", place.folder]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(200):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield f"http://{address}"
        finally:
            process.terminate()


def _configuration(address: str) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL_S3": address,
        "AWS_ACCESS_KEY_ID": KEYS[0],
        "AWS_SECRET_ACCESS_KEY": KEYS[1],
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }


if __name__ == "__main__":
    main(measure_large, measure_small)

"""How fast a model of 4 GB, half of it random, becomes an archive, and how fast that is in S3.

The archive is compared with `tar -cf - | pigz -1` (`apt-get install pigz`), both writing to the disk, in time and in
bytes. The upload is compared with boto3's `upload_file` of an archive that is ready, where ours writes the archive
meanwhile: over a gigabit network, which is played by a process in between, and with nothing in between. There, packing,
uploading and the server share the cores of this machine, so that figure is against boto3's with the packing before it.
The server is rclone's and writes to the same disk. Both sides are processes of their own that are timed inside, imports
and clients not counted. Our peak of memory is that of the whole process.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from measure import Samples, alternate, execute
from results import Figure, Size, comparison, main, megabytes, spread
from workplace import BIN, PROGRAMS, Workplace, workplace

MODEL_MEGABYTES = 4000
ARCHIVE_BOUND = 1.0
BYTES_BOUND = 1.1
UPLOAD_BOUND = 1.1
LOCAL_BOUND = 1.0
GIGABIT = 117_000_000
"""Bytes a second that are left of it for the data."""
MEMORY_BOUND = 100e6
KEYS = ("benchmarkkey", "benchmarksecret")
CORES = 2

NETWORK = PROGRAMS / "slow_network.py"
ARCHIVE = PROGRAMS / "pack.py"
PUBLISH = PROGRAMS / "pack_and_upload.py"
BOTO3 = PROGRAMS / "upload_boto3.py"


def measure_archive(size: Size) -> list[Figure]:
    if shutil.which("pigz") is None:
        raise SystemExit("pigz is not here: apt-get install pigz")
    count = size.of(MODEL_MEGABYTES)
    with workplace() as place:
        model = place.half_random(count)
        archive = place.folder / "model.tar.gz"
        sizes: dict[str, list[float]] = {"ours": [], "theirs": []}

        def measured(side: str, took: Callable[[], float]) -> float:
            found = took()
            sizes[side].append(archive.stat().st_size)
            archive.unlink()
            place.clear()
            return found

        def pigz() -> float:
            command = f'tar -cf - -C "$0" . | pigz -1 -p {CORES} >"$1" && sync "$1"'
            return execute(["bash", "-o", "pipefail", "-c", command, model, archive]).seconds

        ours, theirs = alternate(
            lambda: measured("ours", lambda: _run(place, ARCHIVE, model, archive, place.environment)),
            lambda: measured("theirs", pigz),
            rounds=size.rounds,
            name="archive",
        )
    what = f"{count} MB half-random model, `model.tar.gz` ÷ `tar | pigz -1`"
    lengths = [Samples(values=tuple(found)) for found in sizes.values()]
    ratio = lengths[0].median / lengths[1].median
    return [
        comparison(what, ours, theirs, ARCHIVE_BOUND),
        Figure(
            what="bytes of the same",
            ours=megabytes(lengths[0].median),
            theirs=megabytes(lengths[1].median),
            figure=f"{ratio:.2f}",
            bound=f"{BYTES_BOUND:g}",
            met=ratio <= BYTES_BOUND,
        ),
    ]


def measure_upload(size: Size) -> list[Figure]:
    count = size.of(MODEL_MEGABYTES)
    peaks: list[float] = []
    with workplace() as place:
        model = place.half_random(count)
        ready, archive = place.folder / "ready.tar.gz", place.folder / "model.tar.gz"
        _run(place, ARCHIVE, model, ready, place.environment)
        bucket = place.folder / "served" / "bucket"
        bucket.mkdir(parents=True)

        def publish(port: int) -> float:
            took = _run(place, PUBLISH, model, archive, _configured(place, port), peaks=peaks)
            return _cleared(place, bucket, took, archive)

        def upload(port: int) -> float:
            return _cleared(place, bucket, _run(place, BOTO3, model, ready, _configured(place, port)))

        def pack_and_upload(port: int) -> float:
            packing = _run(place, ARCHIVE, model, archive, place.environment)
            return packing + _cleared(
                place, bucket, _run(place, BOTO3, model, archive, _configured(place, port)), archive
            )

        with _server(bucket.parent) as server, _network(server) as network:
            far = alternate(lambda: publish(network), lambda: upload(network), rounds=size.rounds, name="gigabit")
            near = alternate(
                lambda: publish(server), lambda: pack_and_upload(server), rounds=size.rounds, name="this machine"
            )
    peak = Samples(values=tuple(peaks))
    what = f"{count} MB model packed and uploaded"
    return [
        comparison(f"{what} over a gigabit network ÷ boto3 `upload_file` of it", *far, UPLOAD_BOUND),
        comparison(f"{what} within this machine ÷ packed, then `upload_file`", *near, LOCAL_BOUND),
        Figure(
            what="peak memory, packing and uploading",
            ours=spread(peak, megabytes),
            theirs="",
            figure=megabytes(peak.highest),
            bound=megabytes(MEMORY_BOUND),
            met=peak.highest <= MEMORY_BOUND,
        ),
    ]


def _run(
    place: Workplace,
    program: Path,
    model: Path,
    archive: Path,
    environment: Mapping[str, str],
    *,
    peaks: list[float] | None = None,
) -> float:
    result = place.folder / "seconds"
    ended = execute([BIN / "python", program, model, archive, result], environment=environment)
    if peaks is not None:
        peaks.append(ended.peak_bytes)
    return float(result.read_text())


def _cleared(place: Workplace, bucket: Path, took: float, *files: Path) -> float:
    for path in (*files, bucket / "job" / "output" / "model.tar.gz"):
        path.unlink(missing_ok=True)
    place.clear()
    return took


@contextmanager
def _server(folder: Path) -> Iterator[int]:
    """rclone's server of a folder, and its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [BIN / "rclone", "--config", os.devnull, "serve", "s3", "--addr", f"127.0.0.1:{port}"]
    with subprocess.Popen(
        [*command, "--auth-key", ",".join(KEYS), folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            for _ in range(200):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield port
        finally:
            process.terminate()


@contextmanager
def _network(server: int) -> Iterator[int]:
    """A slow way to a port of this machine, and the port where it begins."""
    command = [BIN / "python", NETWORK, str(server), str(GIGABIT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def _configured(place: Workplace, port: int) -> Mapping[str, str]:
    return {
        **place.environment,
        "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": KEYS[0],
        "AWS_SECRET_ACCESS_KEY": KEYS[1],
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }


if __name__ == "__main__":
    main(measure_archive, measure_upload)

"""How fast a model of 4 GB, half of it random, becomes an archive, and how fast that is in S3.

The archive is compared with `tar -cf - | pigz -1` (`apt-get install pigz`), both writing to the disk, in time and in
bytes. The upload is compared with boto3's `upload_file` of an archive that is ready, where ours writes the archive
meanwhile: over a gigabit network, which is played by a process in between, and with nothing in between. There, packing,
uploading and the server share the cores of this machine, so that figure is against boto3's with the packing before it.
The server is rclone's and writes to the same disk. Both sides are processes of their own that are timed inside, imports
and clients not counted. Our peak of memory is that of the whole process.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from measure import Samples, alternate, execute
from results import Figure, Size, comparison, main, megabytes, spread
from s3_server import configuration, rclone_server
from workplace import BIN, PROGRAMS, Workplace, workplace

MODEL_MEGABYTES = 4000
ARCHIVE_BOUND = 1.0
BYTES_BOUND = 1.1
UPLOAD_BOUND = 1.1
LOCAL_BOUND = 1.0
GIGABIT = 117_000_000
"""Bytes a second that are left of it for the data."""
MEMORY_BOUND = 100e6
CORES = 2


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
            lambda: measured("ours", lambda: _run(place, "archive_model.py", model, archive, place.environment)),
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
        _run(place, "archive_model.py", model, ready, place.environment)
        bucket = place.folder / "served" / "bucket"
        bucket.mkdir(parents=True)

        def configured(address: str) -> Mapping[str, str]:
            return {**place.environment, **configuration(address)}

        def publish(address: str) -> float:
            took = _run(place, "publish_model.py", model, archive, configured(address), peaks=peaks)
            return _cleared(place, bucket, took, archive)

        def upload(address: str) -> float:
            return _cleared(place, bucket, _run(place, "upload_boto3.py", model, ready, configured(address)))

        def pack_and_upload(address: str) -> float:
            packing = _run(place, "archive_model.py", model, archive, place.environment)
            return packing + _cleared(
                place, bucket, _run(place, "upload_boto3.py", model, archive, configured(address)), archive
            )

        with rclone_server(bucket.parent, writable=True) as server, _network(server) as network:
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
    program: str,
    model: Path,
    archive: Path,
    environment: Mapping[str, str],
    *,
    peaks: list[float] | None = None,
) -> float:
    result = place.folder / "seconds"
    ended = execute([BIN / "python", PROGRAMS / program, model, archive, result], environment=environment)
    if peaks is not None:
        peaks.append(ended.peak_bytes)
    return float(result.read_text())


def _cleared(place: Workplace, bucket: Path, took: float, *files: Path) -> float:
    for path in (*files, bucket / "job" / "output" / "model.tar.gz"):
        path.unlink(missing_ok=True)
    place.clear()
    return took


@contextmanager
def _network(server: str) -> Iterator[str]:
    """A slow way to a server of this machine, and the address where it begins."""
    command: list[str | Path] = [BIN / "python", PROGRAMS / "slow_network.py", server.rpartition(":")[2], str(GIGABIT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


if __name__ == "__main__":
    main(measure_archive, measure_upload)

"""How fast objects come from S3 into files, against boto3's `download_file` for one after the other.

That is what the SDK's local mode does. Both sides read from the same rclone server on this machine, and write to the
same disk; each is a process of its own that is timed inside, imports and clients not counted, from the listing or the
first key on to the last file. Our peak of memory is that of the whole process.
"""

from measure import Samples, alternate, execute, progress
from results import Figure, Size, comparison, main, megabytes, spread
from s3_server import configuration, rclone_server
from workplace import BIN, PROGRAMS, Workplace, workplace

LARGE_BOUND = 0.7
SMALL_BOUND = 0.333
THREADS_BOUND = 0.5
"""As a share of the time."""
MEMORY_BOUND = 200e6
LARGE_MEGABYTES = 1024
SMALL_COUNT = 5000
SMALL_BYTES = 20 << 10
OURS, BOTO3, THREADS = "s3_download.py", "s3_download_boto3.py", "s3_download_boto3_threads.py"


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
        what = f"File from S3, {count:,} objects of 20 KiB"
        threads = _compare(
            place, size, what, "small/", THREADS_BOUND, against=THREADS, name="`download_file` in 8 threads"
        )
        return [*_compare(place, size, what, "small/", SMALL_BOUND), threads[0]]


def _compare(
    place: Workplace,
    size: Size,
    what: str,
    prefix: str,
    bound: float,
    *,
    against: str = BOTO3,
    name: str = "`download_file`",
) -> list[Figure]:
    peaks: list[float] = []

    def run(program: str) -> float:
        place.output.mkdir()
        result = place.folder / "seconds"
        ended = execute([BIN / "python", PROGRAMS / program, prefix, place.output, result], environment=environment)
        if program == OURS:
            peaks.append(ended.peak_bytes)
        place.clear()
        return float(result.read_text())

    with rclone_server(place.folder) as address:
        environment = {**place.environment, **configuration(address)}
        ours, theirs = alternate(lambda: run(OURS), lambda: run(against), rounds=size.rounds, name=what)
    peak = Samples(values=tuple(peaks))
    return [
        comparison(f"{what} ÷ boto3 {name}", ours, theirs, bound),
        Figure(
            what=f"peak memory, {what}",
            ours=spread(peak, megabytes),
            theirs="",
            figure=megabytes(peak.highest),
            bound=megabytes(MEMORY_BOUND),
            met=peak.highest <= MEMORY_BOUND,
        ),
    ]


if __name__ == "__main__":
    main(measure_large, measure_small)

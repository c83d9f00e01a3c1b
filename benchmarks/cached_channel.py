"""The second run of a job with 5,000 objects in S3, which lie in the cache, against the same job on local data."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import alternate, progress
from results import Figure, Size, comparison, main
from workplace import NO_OP, ROOT, image, workplace

sys.path.append(str(ROOT))  # the S3 servers are those of the tests

BOUND = 2.0
OBJECTS, BYTES = 5_000, 20 << 10
_FILES_A_FOLDER = 500


def measure(size: Size) -> list[Figure]:
    count = size.of(OBJECTS)
    tag = image(NO_OP)
    with workplace() as place, _s3(place.folder, count) as (data, environment):
        place.environment = {**place.environment, **environment}
        ours, theirs = alternate(
            # The round that warms caches is the first run, which downloads.
            lambda: place.run(tag, "--channel", "train=s3://bench/data/").seconds,
            lambda: place.run(tag, "--channel", f"train={data}").seconds,
            rounds=size.rounds,
            name="cached channel",
        )
    return [comparison(f"second run of a job with {count:,} objects in S3 ÷ on local data", ours, theirs, BOUND)]


@contextmanager
def _s3(folder: Path, count: int) -> Iterator[tuple[Path, dict[str, str]]]:
    """A server that has the objects, the same as a local folder, and how the server is reached."""
    from tests.kit.s3_servers import Rclone

    below = folder / "s3"
    below.mkdir()
    server = Rclone(below)
    data = server.data / "bench" / "data"
    progress(f"making {count} objects")
    for number in range(count):
        part = data / f"{number // _FILES_A_FOLDER:03}"
        part.mkdir(parents=True, exist_ok=True)
        (part / f"{number:05}.bin").write_bytes(os.urandom(BYTES))
    server.start()
    try:
        yield data, server.environment
    finally:
        server.close()


if __name__ == "__main__":
    main(measure)

"""10,000 lines of 1 kB, in requests of 1 MB, four at once: a transform job against a loop of four curls.

Both start the container, wait for its first answer to a ping, split the file, join the answers and remove the
container.
"""

import json
import shutil
from pathlib import Path

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import BIN, PROGRAMS, ROOT, Workplace, image, workplace

BOUND = 1.15
SERVER = ROOT / "tests" / "kit" / "images" / "transform"


def measure(size: Size) -> list[Figure]:
    tag = image(SERVER)
    with workplace() as place:
        data, output = place.folder / "data", place.folder / "transformed"
        data.mkdir()
        lines = data / "lines.csv"
        count = size.of(10_000)
        lines.write_bytes((b"x" * 999 + b"\n") * count)
        job = job_file(place, tag, output)

        def ours() -> float:
            shutil.rmtree(output, ignore_errors=True)
            seconds = execute(
                [BIN / "smlocal", "run", job, "--name", place.new_name()], environment=place.environment
            ).seconds
            check(lines, output / "lines.csv.out")
            return seconds

        def theirs() -> float:
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir()
            seconds = execute([PROGRAMS / "transform_by_curl.sh", tag, lines, output]).seconds
            check(lines, output / "lines.csv.out")
            return seconds

        sides = alternate(ours, theirs, rounds=size.rounds, name="transform")
    return [comparison(f"transform of {count:,} lines, 4 at once ÷ a loop of 4 curls", *sides, BOUND)]


def job_file(place: Workplace, tag: str, output: Path) -> Path:
    request = {
        "PrimaryContainer": {"Image": tag},
        "BatchStrategy": "MultiRecord",
        "MaxConcurrentTransforms": 4,
        "MaxPayloadInMB": 1,
        "TransformInput": {
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": str(place.folder / "data")}},
            "SplitType": "Line",
            "ContentType": "text/csv",
        },
        "TransformOutput": {"S3OutputPath": str(output)},
    }
    path = place.folder / "transform.json"
    path.write_text(json.dumps(request))
    return path


def check(lines: Path, output: Path) -> None:
    assert output.read_bytes() == lines.read_bytes().upper()


if __name__ == "__main__":
    main(measure)

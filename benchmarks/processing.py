"""Processing jobs: an empty one, one with a large input, and how soon a continuous output is in its folder."""

import json
import subprocess
import time
from pathlib import Path
from statistics import quantiles
from threading import Event, Thread
from typing import Any

from measure import Samples, alternate, execute, progress
from results import Figure, Size, comparison, main, seconds, spread
from workplace import BIN, NO_OP, PY, Workplace, image, workplace

NO_OP_BOUND = 1.45
INPUT_BOUND = 1.5
MANY, FEW = 100_000, 10
LATEST = 2.0
"""Seconds from the end of writing a file until it is in the output folder, at the 95th percentile."""
FILES = 100
_LOOK_SECONDS = 0.005
_WRITE = (
    "import time, pathlib as p; [(p.Path(f'/opt/ml/processing/o/{{i}}').write_text('x'), print(time.time_ns()), "
    "time.sleep(0.05)) for i in range({files})]; time.sleep(1)"
)


def measure(size: Size) -> list[Figure]:
    return [*measure_no_op(size), *measure_input(size), *measure_continuous(size)]


def measure_no_op(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    with workplace() as place:
        job = _job(place, tag, ["train"])
        ours, theirs = alternate(
            lambda: place.run_file(job).seconds,
            lambda: execute(["docker", "run", "--rm", tag, "train"]).seconds,
            rounds=size.rounds,
            name="no-op processing",
        )
    return [comparison("no-op processing job ÷ `docker run --rm`", ours, theirs, NO_OP_BOUND)]


def measure_input(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    with workplace() as place:
        many, few = place.many_files(size.of(MANY)), place.many_files(FEW)
        job = _job(place, tag, ["train"])
        ours, theirs = alternate(
            lambda: place.run_file(job, "--input", f"data={many}").seconds,
            lambda: place.run_file(job, "--input", f"data={few}").seconds,
            rounds=size.rounds,
            name="large input",
        )
    return [comparison(f"processing input of {size.of(MANY):,} files ÷ of {FEW}", ours, theirs, INPUT_BOUND)]


def measure_continuous(size: Size) -> list[Figure]:
    tag, files = image(PY), max(2, size.of(FILES))
    with workplace() as place:
        progress("continuous output")
        output = {"S3Uri": str(place.folder / "o"), "LocalPath": "/opt/ml/processing/o", "S3UploadMode": "Continuous"}
        script = _WRITE.format(files=files)
        job = _job(place, tag, ["python3", "-c", script], {"Outputs": [{"OutputName": "o", "S3Output": output}]})
        seen: dict[str, float] = {}
        over = Event()
        looking = Thread(target=_look, args=(place.folder / "o", seen, over))
        looking.start()
        done = subprocess.run(
            [BIN / "smlocal", "run", job], env=place.environment, check=True, capture_output=True, text=True
        )
        over.set()
        looking.join()
    written = [int(line) / 1e9 for line in done.stdout.split()]
    late = [seen[str(number)] - at for number, at in enumerate(written)]
    worst = quantiles(late, n=20)[-1]
    return [
        Figure(
            what="continuous output: from writing a file to its copy, 95th percentile",
            ours=spread(Samples(values=tuple(late)), seconds),
            theirs="",
            figure=seconds(worst),
            bound=seconds(LATEST),
            met=worst <= LATEST,
        )
    ]


def _look(folder: Path, seen: dict[str, float], over: Event) -> None:
    while not over.wait(_LOOK_SECONDS):
        now = time.time()
        if folder.is_dir():
            for each in folder.iterdir():
                if each.name.isdecimal():
                    seen.setdefault(each.name, now)


def _job(place: Workplace, tag: str, words: list[str], outputs: dict[str, Any] | None = None) -> Path:
    request = {
        "AppSpecification": {"ImageUri": tag, "ContainerEntrypoint": words},
        **({} if outputs is None else {"ProcessingOutputConfig": outputs}),
    }
    path = place.folder / "processing.json"
    path.write_text(json.dumps(request))
    return path


if __name__ == "__main__":
    main(measure)

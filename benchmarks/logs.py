"""A container that prints a million lines against `docker run` into a file, on one stream or two, and metrics."""

import json
import subprocess
import time
from pathlib import Path

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import BIN, Workplace, image, workplace

BOUND = 1.2
METRICS_BOUND = 1.5
"""The job with them ÷ the same job without: half as much time again."""
IMAGES = Path(__file__).parent / "images"
COMMAND = BIN / "smlocal"
LINES = 1_000_000
PIECE = 20_000
"""The image prints only multiples of it."""
NAMES = ("loss", "accuracy", "val_loss", "val_accuracy", "lr", "grad_norm", "throughput", "epoch")
REGEXES = [rf"\b{name}=([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)" for name in NAMES]
"""Every hundredth line has a value for each."""


def measure(size: Size) -> list[Figure]:
    tag = image(IMAGES / "lines")
    lines = max(1, size.of(LINES) // PIECE) * PIECE
    with workplace() as place:
        ours, theirs = alternate(
            lambda: _smlocal(place, tag, lines),
            lambda: _docker(place, tag, lines),
            rounds=size.rounds,
            name=f"{lines} lines",
        )
        ours_of_two, theirs_of_two = alternate(
            lambda: _smlocal(place, tag, lines, streams=2),
            lambda: _docker(place, tag, lines, streams=2),
            rounds=size.rounds,
            name=f"{lines} lines of two streams",
        )
        with_metrics, without = alternate(
            lambda: _smlocal(place, tag, lines, metrics=True),
            lambda: _smlocal(place, tag, lines),
            rounds=size.rounds,
            name="eight metrics",
        )
    return [
        comparison(f"{lines} lines of 100 bytes ÷ `docker run … > file`", ours, theirs, BOUND),
        comparison(f"{lines} lines of two streams ÷ `docker run … > file 2>&1`", ours_of_two, theirs_of_two, BOUND),
        comparison(f"the same with {len(REGEXES)} metric regexes ÷ without", with_metrics, without, METRICS_BOUND),
    ]


def _smlocal(place: Workplace, tag: str, lines: int, *, streams: int = 1, metrics: bool = False) -> float:
    name = place.new_name()
    definitions = [{"Name": each, "Regex": regex} for each, regex in zip(NAMES, REGEXES, strict=True)]
    request = {
        "TrainingJobName": name,
        "AlgorithmSpecification": {
            "TrainingImage": tag,
            "TrainingInputMode": "File",
            **({"MetricDefinitions": definitions} if metrics else {}),
        },
        "Environment": {"LINES": str(lines), "STREAMS": str(streams)},
        "OutputDataConfig": {"S3OutputPath": str(place.output)},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    }
    job = place.folder / "job.json"
    job.write_text(json.dumps(request))
    seconds = execute([COMMAND, "run", job], environment=place.environment).seconds
    log = place.folder / "home" / "jobs" / name / "logs" / "algo-1.log"
    assert log.stat().st_size == lines * 100
    if metrics:
        _check(place, name, lines)
    place.clear()
    return seconds


def _check(place: Workplace, name: str, lines: int) -> None:
    shown = subprocess.run([COMMAND, "metrics", name, "--json"], env=place.environment, check=True, capture_output=True)
    counts = {each["Count"] for each in json.loads(shown.stdout)["Metrics"]}
    assert counts == {lines // 100}, counts


def _docker(place: Workplace, tag: str, lines: int, *, streams: int = 1) -> float:
    path = place.folder / "docker.log"
    command = ["docker", "run", "--rm", "--env", f"LINES={lines}", "--env", f"STREAMS={streams}", tag, "train"]
    began = time.perf_counter()
    with path.open("wb") as log:
        subprocess.run(command, stdout=log, stderr=log, check=True)
    seconds = time.perf_counter() - began
    assert path.stat().st_size == lines * 100
    path.unlink()
    return seconds


if __name__ == "__main__":
    main(measure)

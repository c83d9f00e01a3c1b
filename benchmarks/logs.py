"""A container that prints a million lines against `docker run` into a file, and what metric regexes add to that."""

import json
import subprocess
import time
from pathlib import Path

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import BIN, Workplace, image, workplace

BOUND = 1.2
METRICS_BOUND = 1.5
"""Of the job with them ÷ the same job without: half as much time again."""
IMAGES = Path(__file__).parent / "images"
COMMAND = BIN / "smlocal"
LINES = 1_000_000
NAMES = ("loss", "accuracy", "val_loss", "val_accuracy", "lr", "grad_norm", "throughput", "epoch")
REGEXES = [rf"\b{name}=([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)" for name in NAMES]
"""Every hundredth line has a value for each."""


def measure(size: Size) -> list[Figure]:
    tag = image(IMAGES / "lines")
    lines = size.of(LINES)
    with workplace() as place:
        ours, theirs = alternate(
            lambda: _smlocal(place, tag, lines),
            lambda: _docker(place, tag, lines),
            rounds=size.rounds,
            name=f"{lines} lines",
        )
        with_metrics, without = alternate(
            lambda: _smlocal(place, tag, lines, metrics=True),
            lambda: _smlocal(place, tag, lines),
            rounds=size.rounds,
            name="eight metrics",
        )
    return [
        comparison(f"{lines} lines of 100 bytes ÷ `docker run … > file`", ours, theirs, BOUND),
        comparison(f"the same with {len(REGEXES)} metric regexes ÷ without", with_metrics, without, METRICS_BOUND),
    ]


def _smlocal(place: Workplace, tag: str, lines: int, *, metrics: bool = False) -> float:
    name = place.new_name()
    definitions = [{"Name": each, "Regex": regex} for each, regex in zip(NAMES, REGEXES, strict=True)]
    request = {
        "TrainingJobName": name,
        "AlgorithmSpecification": {
            "TrainingImage": tag,
            "TrainingInputMode": "File",
            **({"MetricDefinitions": definitions} if metrics else {}),
        },
        "Environment": {"LINES": str(lines)},
        "OutputDataConfig": {"S3OutputPath": str(place.output)},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    }
    job = place.folder / "job.json"
    job.write_text(json.dumps(request))
    seconds = execute([COMMAND, "run", job], environment=place.environment).seconds
    if metrics:
        _check(place, name, lines)
    place.clear()
    return seconds


def _check(place: Workplace, name: str, lines: int) -> None:
    shown = subprocess.run([COMMAND, "metrics", name, "--json"], env=place.environment, check=True, capture_output=True)
    counts = {each["Count"] for each in json.loads(shown.stdout)["Metrics"]}
    assert counts == {lines // 100}, counts


def _docker(place: Workplace, tag: str, lines: int) -> float:
    path = place.folder / "docker.log"
    command = ["docker", "run", "--rm", "--env", f"LINES={lines}", tag, "train"]
    began = time.perf_counter()
    with path.open("wb") as log:
        subprocess.run(command, stdout=log, check=True)
    seconds = time.perf_counter() - began
    assert path.stat().st_size == lines * 100
    path.unlink()
    return seconds


if __name__ == "__main__":
    main(measure)

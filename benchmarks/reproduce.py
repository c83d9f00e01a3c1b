"""The time that reproducing adds to a job: `smlocal reproduce` of a saved answer, against `smlocal run`."""

import json
import subprocess

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import BIN, NO_OP, Workplace, image, workplace

BOUND = 1.2


def measure(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    with workplace() as place:
        file = place.folder / "job.json"
        request = {
            "AlgorithmSpecification": {"TrainingImage": tag, "TrainingInputMode": "File"},
            "OutputDataConfig": {"S3OutputPath": str(place.output)},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        }
        file.write_text(json.dumps(request))
        answer = place.folder / "answer.json"
        answer.write_text(_answer(place, "run", file, "--name", place.new_name(), "--json"))
        ours, theirs = alternate(
            lambda: _seconds(place, "reproduce", str(answer), "--allow-local-paths", "--name", place.new_name()),
            lambda: _seconds(place, "run", str(file), "--name", place.new_name()),
            rounds=2 * size.rounds,
            name="reproduce",
        )
    return [comparison("fetch and reproduce of an answer ÷ `smlocal run`", ours, theirs, BOUND)]


def _seconds(place: Workplace, *words: str) -> float:
    return execute([BIN / "smlocal", *words], environment=place.environment).seconds


def _answer(place: Workplace, *words: object) -> str:
    done = subprocess.run(
        [BIN / "smlocal", *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=dict(place.environment),
    )
    return done.stdout


if __name__ == "__main__":
    main(measure)

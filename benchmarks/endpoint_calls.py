"""Calls through boto3: a describe with ten thousand jobs stored against moto's server with ten, and a create."""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from endpoint_server import end_job, moto_server, request, smlocal_server
from listing import home_with_jobs
from measure import Samples, alternate
from results import Figure, Size, main, spread
from workplace import SH, image, workplace

DESCRIBE_BOUND = 1.0
CREATE_BOUND = 50
_RUNS = "trap 'exit 0' TERM; sleep 600 & wait"
_CALLS = 50
"""A value is the median of so many calls."""


def measure(size: Size) -> list[Figure]:
    many, few = size.of(10_000), 10
    tag = image(SH)
    with workplace() as place:
        environment = {**place.environment, "SMLOCAL_HOME": str(home_with_jobs(place.folder / "home", many))}
        with smlocal_server(environment, "--max-instances", "1") as server, moto_server(environment) as moto:
            client, other = server.client(), moto.client()
            runs = place.new_name()  # it has the only instance, so those that are created below wait
            client.create_training_job(**request(runs, tag, Environment={"SCRIPT": _RUNS}))
            for number in range(few):
                other.create_training_job(**request(f"job-{number}", tag))

            def describe(each: Any, number: int) -> float:
                return _median(lambda: each.describe_training_job(TrainingJobName=f"job-{number}"))

            def create() -> float:
                return _median(lambda: client.create_training_job(**request(place.new_name(), tag)))

            try:
                ours, theirs = alternate(
                    lambda: describe(client, many // 2),
                    lambda: describe(other, few // 2),
                    rounds=size.rounds,
                    name="describe",
                )
                creates, describes = alternate(
                    create, lambda: describe(client, many // 2), rounds=size.rounds, name="create"
                )
            finally:
                end_job(client, runs)
    what = f"DescribeTrainingJob by boto3 with {many} jobs ÷ by moto's server with {few}"
    return [
        _comparison(what, ours, theirs, DESCRIBE_BOUND),
        _comparison("CreateTrainingJob ÷ DescribeTrainingJob", creates, describes, CREATE_BOUND),
    ]


def _median(call: Callable[[], object]) -> float:
    took = []
    for _ in range(_CALLS):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return median(took)


def _comparison(what: str, ours: Samples, theirs: Samples, bound: float) -> Figure:
    ratio = ours.median / theirs.median
    return Figure(
        what=what,
        ours=spread(ours, _milliseconds),
        theirs=spread(theirs, _milliseconds),
        figure=f"{ratio:.2f}",
        bound=f"{bound:g}",
        met=ratio <= bound,
    )


def _milliseconds(value: float) -> str:
    return f"{value * 1000:.2f} ms"


if __name__ == "__main__":
    main(measure)

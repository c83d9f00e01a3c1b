"""A hundred jobs created at once, eight at a time: whether each ends as it should, and what is left."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from endpoint_server import Server, request, smlocal_server
from measure import progress
from results import Figure, Size, main, seconds
from workplace import SH, image, workplace

_AT_ONCE = 8
_CREATORS = 16
_FAILING = 10
"""Each tenth ends with an error."""
_MOST_SECONDS = 900.0


def measure(size: Size) -> list[Figure]:
    count = size.of(100)
    tag = image(SH)
    with workplace() as place, smlocal_server(place.environment, "--max-instances", str(_AT_ONCE)) as server:
        names = {place.new_name(): number % _FAILING != 0 for number in range(count)}
        began = time.perf_counter()
        right = _run(server, tag, names)
        took = time.perf_counter() - began
        left = sum(_left(name) for name in names)
    return [
        Figure(
            what=f"{count} jobs created at once, {_AT_ONCE} at a time, all ended in {seconds(took)}",
            ours=f"{right} as they should, {left} things left",
            theirs="",
            figure=f"{right} of {count}",
            bound="all",
            met=right == count and left == 0,
        )
    ]


def _run(server: Server, tag: str, names: dict[str, bool]) -> int:
    """How many end as they should."""
    client = server.client()

    def create(name: str) -> None:
        client.create_training_job(**request(name, tag, Environment={"SCRIPT": "true" if names[name] else "exit 3"}))

    with ThreadPoolExecutor(_CREATORS) as creators:
        list(creators.map(create, names))
    deadline = time.monotonic() + _MOST_SECONDS
    while (unfinished := _unfinished(client)) and time.monotonic() < deadline:
        progress(f"{unfinished} of {len(names)} are left")
        time.sleep(0.2)
    return sum(
        client.describe_training_job(TrainingJobName=name)["TrainingJobStatus"] == ("Completed" if good else "Failed")
        for name, good in names.items()
    )


def _unfinished(client: Any) -> int:
    pages = client.get_paginator("list_training_jobs").paginate(StatusEquals="InProgress")
    return sum(len(page["TrainingJobSummaries"]) for page in pages)


def _left(name: str) -> int:
    """Containers, networks and volumes of a job."""
    lists = (("ps", "--all"), ("network", "ls"), ("volume", "ls"))
    return sum(
        len(
            subprocess.run(
                ["docker", *each, "--quiet", "--filter", f"label=smlocal.job={name}"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout.split()
        )
        for each in lists
    )


if __name__ == "__main__":
    main(measure)

"""A custom job of eight replicas that do nothing, against as many `docker run` at once on one network."""

import json
from typing import Any

from hosts import docker_runs, own_network
from measure import alternate
from results import Figure, Size, comparison, main
from workplace import NO_OP, image, workplace

BOUND = 1.5


def measure(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    count = max(2, size.of(8))
    with workplace() as place, own_network() as network:
        job = place.folder / "job.json"
        job.write_text(json.dumps(_job(tag, count)))
        ours, theirs = alternate(
            lambda: place.run_file(job).seconds,
            lambda: docker_runs(network, tag, count),
            rounds=size.rounds,
            name=f"{count} replicas",
        )
    what = f"no-op job of {count} replicas ÷ {count} `docker run` by `xargs -P {count}` on one network"
    return [comparison(what, ours, theirs, BOUND)]


def _job(tag: str, replicas: int) -> dict[str, Any]:
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": tag, "args": ["train"]}}
    return {"workerPoolSpecs": [{**pool, "replicaCount": 1}, {**pool, "replicaCount": replicas - 1}]}


if __name__ == "__main__":
    main(measure)

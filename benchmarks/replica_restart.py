"""A replica that a signal has ended: how long until its restart runs, against `docker restart` of the same container.

Both are measured by the program: from the last thing that it does to the first thing that it does after the restart.
smlocal's side is a job of two replicas: the end is noticed, what follows is decided and stored, the container is
removed, and another is created and started in its place.
"""

import json
import os
import time
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import PROGRAMS, PY, Workplace, image, workplace

from smlocal.engine.docker import DockerEngine
from smlocal.engine.engines import connect
from smlocal.engine.interface import JOB_LABEL, ContainerSpec, Mount
from smlocal.jobs.container_run import ContainerRun

BOUND = 1.5
NAME = "workerpool0-0"
SUBNET = ip_network("192.0.2.0/29")
STAMPS = "/gcs/stamps/"
PROGRAM = PROGRAMS / "note_times.py"
PRIMARY = f"until [ $(cat {STAMPS}begun | wc -l) = 2 ]; do sleep 0.05; done"
"""The job ends with the primary replica, so that waits for the other's restart."""


def measure(size: Size) -> list[Figure]:
    tag, engine = image(PY), connect()
    job = f"benchmark-restart-{os.getpid()}"
    with workplace() as place:
        stamps = place.folder / "stamps"
        stamps.mkdir()
        engine.create_network(job, {JOB_LABEL: job}, subnet=str(SUBNET), gateway=str(SUBNET[1]))
        spec = ContainerSpec(
            name=job,
            image=tag,
            labels={JOB_LABEL: job},
            entrypoint=("python3", "-SEc", PROGRAM.read_text(), STAMPS),
            command=(),
            environment={},
            hostname=f"cmle-training-{NAME}",
            mounts=(Mount(source=str(stamps), target=STAMPS),),
            network=job,
            address=str(SUBNET[4]),
        )
        try:
            ours, theirs = alternate(
                lambda: _smlocal(place, tag, stamps),
                lambda: _docker(engine, spec, stamps),
                rounds=size.rounds,
                name="restart of a replica",
            )
        finally:
            for resource in engine.owned(job):
                engine.remove(resource)
    return [comparison("replica exited → its restart runs ÷ `docker restart` of the same", ours, theirs, BOUND)]


def _smlocal(place: Workplace, tag: str, stamps: Path) -> float:
    file = place.folder / "job.json"
    pools = [_pool(tag, ["sh", "-c", PRIMARY]), _pool(tag, ["python3", "-SEc", PROGRAM.read_text(), STAMPS])]
    file.write_text(json.dumps({"workerPoolSpecs": pools, "Local": {"Sources": {"gs://stamps": str(stamps)}}}))
    place.run_file(file)
    return _between(stamps)


def _pool(tag: str, command: list[str]) -> dict[str, Any]:
    return {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": tag, "command": command}}


def _docker(engine: DockerEngine, spec: ContainerSpec, stamps: Path) -> float:
    (stamps / "stay").touch()
    run = ContainerRun(engine=engine, name=NAME)
    run.create(spec)
    run.start()
    _lines(stamps / "begun", 1)
    execute(["docker", "restart", run.id])
    seconds = _between(stamps)
    run.remove()
    return seconds


def _between(stamps: Path) -> float:
    """From the end of the first container to the beginning of the second."""
    seconds = (_lines(stamps / "begun", 2)[1] - _lines(stamps / "ended", 1)[0]) / 1e9
    for name in ("begun", "ended", "stay"):
        (stamps / name).unlink(missing_ok=True)
    return seconds


def _lines(path: Path, count: int) -> list[int]:
    for _ in range(60_000):
        if path.exists() and len(lines := path.read_text().splitlines()) >= count:
            return [int(line) for line in lines]
        time.sleep(0.001)
    raise TimeoutError(path)


if __name__ == "__main__":
    main(measure)

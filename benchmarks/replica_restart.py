"""A replica that a signal has ended: how long until its restart runs, against `docker restart` of the same container.

Both are measured by the program: from the last thing that it does to the first thing that it does after the restart.
smlocal's side is what a job does in between: the end is noticed, the state machine decides and its progress is made
ready to be stored, the container is removed, and another is created and started in its place.
"""

import json
import os
import time
from ipaddress import ip_network
from pathlib import Path
from queue import Queue

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import PY, image, workplace

from smlocal.engine.docker import DockerEngine, connect
from smlocal.engine.interface import JOB_LABEL, ContainerSpec, Mount
from smlocal.job.container_events import ContainerEvent, ContainerExited
from smlocal.job.container_run import ContainerRun
from smlocal.platforms.ai_platform.lifecycle.actions import Restart
from smlocal.platforms.ai_platform.lifecycle.events import ReplicaExited, ReplicaReady
from smlocal.platforms.ai_platform.lifecycle.lifecycle import Lifecycle
from smlocal.platforms.ai_platform.lifecycle.progress import Progress
from smlocal.platforms.ai_platform.lifecycle.rules import Replica, Rules

BOUND = 1.5
NAME = "workerpool0-0"
SUBNET = ip_network("192.0.2.0/29")
PROGRAM = """
import os, signal, time
def note(name):
    with open("/stamps/" + name, "a") as file:
        print(time.time_ns(), file=file)
def end(*_):
    note("ended")
    os._exit(143)
signal.signal(signal.SIGTERM, end)
note("begun")
if not os.path.exists("/stamps/stay"):
    end()
while True:
    signal.pause()
"""


def measure(size: Size) -> list[Figure]:
    tag, engine = image(PY), connect()
    job = f"benchmark-restart-{os.getpid()}"
    with workplace() as place:
        engine.create_network(job, {JOB_LABEL: job}, subnet=str(SUBNET), gateway=str(SUBNET[1]))
        spec = ContainerSpec(
            name=job,
            image=tag,
            labels={JOB_LABEL: job},
            entrypoint=("python3", "-SEc", PROGRAM),
            command=(),
            environment={},
            hostname=f"cmle-training-{NAME}",
            mounts=(Mount(source=str(place.folder), target="/stamps"),),
            network=job,
            address=str(SUBNET[4]),
        )
        try:
            ours, theirs = alternate(
                lambda: _smlocal(engine, spec, place.folder),
                lambda: _docker(engine, spec, place.folder),
                rounds=size.rounds,
                name="restart of a replica",
            )
        finally:
            for resource in engine.owned(job):
                engine.remove(resource)
    return [comparison("replica exited → its restart runs ÷ `docker restart` of the same", ours, theirs, BOUND)]


def _smlocal(engine: DockerEngine, spec: ContainerSpec, stamps: Path) -> float:
    events: Queue[ContainerEvent] = Queue()
    run = ContainerRun(engine=engine, name=NAME, on_event=events.put, log=str(stamps / "log"))
    rules = Rules(region="us-central1")
    replicas = (Replica(name=NAME, primary=True),)
    lifecycle = Lifecycle(replicas=replicas, rules=rules, progress=Progress(created=time.time()))
    lifecycle.begin_attempt()
    lifecycle.start()
    run.create(spec)
    run.start()
    lifecycle.handle(ReplicaReady(replica=NAME, number=1), time.time())
    event = events.get(timeout=60)
    assert isinstance(event, ContainerExited)
    exited = ReplicaExited(replica=NAME, number=1, exit_code=event.exit_code, oom_killed=event.oom_killed)
    actions = lifecycle.handle(exited, time.time())
    json.dumps(lifecycle.progress.stored())
    assert any(isinstance(action, Restart) for action in actions)
    run = run.replaced(spec)
    run.start()
    seconds = _between(stamps)
    run.wait(60)
    run.remove()
    return seconds


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

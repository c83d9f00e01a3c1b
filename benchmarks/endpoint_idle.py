"""The cost of an idle endpoint: processor time over a minute, and memory."""

import time
from pathlib import Path

from endpoint_server import request, smlocal_server
from idle import processor_seconds
from measure import progress
from results import Figure, Size, main, megabytes
from workplace import NO_OP, image, workplace

PROCESSOR_BOUND = 0.3
MEMORY_BOUND = 120e6


def measure(size: Size) -> list[Figure]:
    wait = size.of(60)
    tag = image(NO_OP)
    with workplace() as place, smlocal_server(place.environment) as server:
        client = server.client()
        name = place.new_name()
        client.create_training_job(**request(name, tag))
        client.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name)
        server.client("logs").describe_log_streams(logGroupName="/aws/sagemaker/TrainingJobs")
        time.sleep(2)
        processes = [server.process, *_children(server.process)]
        progress(f"watching for {wait} s")
        before = sum(map(processor_seconds, processes))
        time.sleep(wait)
        used = sum(map(processor_seconds, processes)) - before
        memory = sum(map(_resident, processes))
    return [
        Figure(
            what=f"processor time of the endpoint and the process that starts its jobs over {wait} s without a call",
            ours=f"{used:.2f} s",
            theirs="",
            figure=f"{used:.2f} s",
            bound=f"{PROCESSOR_BOUND:g} s",
            met=used <= PROCESSOR_BOUND,
        ),
        Figure(
            what="memory of both together, after a job",
            ours=megabytes(memory),
            theirs="",
            figure=megabytes(memory),
            bound=megabytes(MEMORY_BOUND),
            met=memory <= MEMORY_BOUND,
        ),
    ]


def _children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def _resident(process: int) -> float:
    """Bytes; memory that processes share is counted once for all of them."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    main(measure)

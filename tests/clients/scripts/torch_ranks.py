"""A user's program for PyTorch: every process says who and where it is, and all of them add their numbers.

Then it does what `--then` says: end, fail on the last rank, or wait for a stop.
"""

import argparse
import json
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

_STOP_SECONDS = 300.0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--then", default="end")
    chosen, _ = parser.parse_known_args()
    if chosen.then == "stop":
        signal.signal(signal.SIGTERM, _stop)
    if chosen.backend == "smddp":
        import smdistributed.dataparallel.torch.torch_smddp  # noqa: F401 - it registers the backend
    torch.set_num_threads(1)
    dist.init_process_group(chosen.backend)
    try:
        work(chosen)
    finally:
        dist.destroy_process_group()  # or PyTorch may abort the process, whatever its exit code should have been


def work(chosen: argparse.Namespace) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    number = torch.tensor([float(rank + 1)])
    dist.all_reduce(number)
    say(f"rank {rank} of {size} local {os.environ['LOCAL_RANK']} on {host()} sum {number.item():.0f} {chosen.backend}")
    if chosen.then == "fail" and rank == size - 1:
        raise ValueError("the last rank has no rows")
    if chosen.then == "stop":
        say(f"rank {rank} waits for a stop")
    if chosen.then != "end":
        time.sleep(_STOP_SECONDS)


def _stop(number: int, _: object) -> None:
    say(f"rank {os.environ['RANK']} on {host()} has heard {signal.Signals(number).name}")
    sys.exit(0)


def host() -> str:
    with open("/opt/ml/input/config/resourceconfig.json") as file:
        name: str = json.load(file)["current_host"]  # mpirun gives the variables of its own host to all processes
    return name


def say(text: str) -> None:
    # One piece, because the lines of all processes come together in one log.
    print(f"{text}\n", end="", flush=True)  # noqa: T201 - scripts talk by their log


if __name__ == "__main__":
    main()

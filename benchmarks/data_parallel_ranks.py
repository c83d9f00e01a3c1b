"""The work of each rank of `data_parallel.py` in a container: gloo and smddp by turns.

Rank 0 prints seconds as JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import smdistributed.dataparallel.torch.torch_smddp  # noqa: F401 - registers the backend
import torch
import torch.distributed as dist
from torch import nn

BACKENDS = ("smddp", "gloo")
STEPS = 30


def all_reduce(group: Any, data: torch.Tensor) -> Callable[[], None]:
    return lambda: dist.all_reduce(data, group=group)


def epoch(group: Any) -> Callable[[], None]:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 7))
    model = nn.parallel.DistributedDataParallel(network, process_group=group)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs = torch.randn(64, 512)

    def run() -> None:
        for _ in range(STEPS):
            optimizer.zero_grad()
            model(inputs).square().mean().backward()
            optimizer.step()

    return run


def main() -> None:
    what, rounds, megabytes = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    groups = {backend: dist.new_group(backend=backend) for backend in BACKENDS}
    data = torch.randn(int(megabytes * (1 << 20)) // 4)
    sides = {each: epoch(group) if what == "epoch" else all_reduce(group, data) for each, group in groups.items()}
    seconds: dict[str, list[float]] = {backend: [] for backend in BACKENDS}
    for number in range(rounds + 1):
        for backend in BACKENDS if number % 2 else BACKENDS[::-1]:
            dist.barrier()
            began = time.perf_counter()
            sides[backend]()
            if number:  # the first only warms up
                seconds[backend].append(time.perf_counter() - began)
    if dist.get_rank() == 0:
        print(json.dumps(seconds), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

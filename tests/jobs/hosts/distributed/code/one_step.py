"""A single step with the balanced buffer: what is reduced in the first iteration."""

import smdistributed.dataparallel.torch.torch_smddp  # noqa: F401 - registers the backend
import torch
import torch.distributed as dist
from torch import nn


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("smddp")
    model = nn.parallel.DistributedDataParallel(nn.Sequential(*(nn.Linear(128, 128) for _ in range(12))))
    model(torch.randn(4, 128)).square().mean().backward()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

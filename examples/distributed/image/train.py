"""Fit y = 2x + 1 on all processes together, with the backend that the hyperparameter names: smddp, gloo or nccl."""

import json

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    with open("/opt/ml/input/config/hyperparameters.json") as file:
        hyperparameters = json.load(file)
    backend, steps, shard = hyperparameters["backend"], int(hyperparameters["steps"]), int(hyperparameters["shard"])
    if backend == "smddp":
        import smdistributed.dataparallel.torch.torch_smddp  # noqa: F401 - registers the backend
    dist.init_process_group(backend)
    rank, world = dist.get_rank(), dist.get_world_size()

    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(steps):
        x = torch.rand(world * shard, 1)  # the global batch, the same in all processes
        mine = x[rank * shard : (rank + 1) * shard]
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(mine), 2 * mine + 1).backward()  # averages the gradients of all
        optimizer.step()

    weight, bias = (parameter.item() for parameter in model.parameters())
    print(f"rank {rank} of {world}: weight {weight:.2f}, bias {bias:.2f}\n", end="")
    # The model is one: only one process writes it.
    if rank == 0:
        torch.save(model.module.state_dict(), "/opt/ml/model/line.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

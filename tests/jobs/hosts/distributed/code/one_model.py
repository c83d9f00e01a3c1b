"""Trains one model by all ranks, by the library's first interface, and by one process on the global batch."""

import os

import torch
from smdistributed.dataparallel.torch import distributed as dist
from smdistributed.dataparallel.torch.parallel.distributed import DistributedDataParallel
from torch.nn.utils import parameters_to_vector

SHARD, STEPS = 5, 4


def new_model() -> torch.nn.Module:
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group()
    rank, world = dist.get_rank(), dist.get_world_size()
    together, alone = DistributedDataParallel(new_model(), device_ids=[dist.get_local_rank()]), new_model()
    optimizers = [torch.optim.SGD(each.parameters(), lr=0.1, momentum=0.9) for each in (together, alone)]
    equal, difference = [], 0.0
    for step in range(STEPS):
        torch.manual_seed(100 + step)
        inputs, wanted = torch.randn(world * SHARD, 8), torch.randn(world * SHARD, 1)
        mine = slice(rank * SHARD, (rank + 1) * SHARD)
        for optimizer, model, part in ((optimizers[0], together, mine), (optimizers[1], alone, slice(None))):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(inputs[part]), wanted[part]).backward()
            optimizer.step()
        own = parameters_to_vector(together.parameters()).detach()
        of_all = [torch.empty_like(own) for _ in range(world)]
        dist.all_gather(of_all, own)
        equal.append(all(torch.equal(own, each) for each in of_all))
        difference = max(difference, (own - parameters_to_vector(alone.parameters())).abs().max().item())
    gloo = torch.distributed.new_group(backend="gloo")
    ours = torch.randn(10_001, generator=torch.Generator().manual_seed(rank))
    theirs = ours.clone()
    dist.all_reduce(ours, op=dist.ReduceOp.SUM)
    torch.distributed.all_reduce(theirs, group=gloo)
    together.zero_grad()
    with together.no_sync():
        together(torch.full((1, 8), float(rank))).sum().backward()
    unsynced = together.module[0].weight.grad
    synced = unsynced.clone()
    dist.all_reduce(synced)
    told = (
        f"rank {rank} of {world} local {dist.get_local_rank()} {os.environ['SMDATAPARALLEL_LOCAL_RANK']}: "
        f"equal {equal} alone {difference < 1e-6} "
        f"gloo {torch.equal(ours, theirs)} no_sync {not torch.equal(synced, unsynced * world)}"
    )
    print(told + "\n", end="", flush=True)  # noqa: T201 - one piece, as the ranks share a log
    dist.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()

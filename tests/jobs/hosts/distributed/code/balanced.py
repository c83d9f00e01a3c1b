"""Three ranks with the balanced buffer. In the last iteration the last of them holds the first buffer back."""

import time
from datetime import timedelta

import smdistributed.dataparallel.torch.torch_smddp  # noqa: F401 - registers the backend
import torch
import torch.distributed as dist
from torch import nn

LIMIT = timedelta(seconds=120)


COMPUTED = "rank 0 has computed its last gradient"


def say_computed(store: dist.Store) -> None:
    """Long after the reduction of the first buffer has begun; it waits for the last rank, and that waits for this."""
    time.sleep(0.5)
    store.set(COMPUTED, "yes")


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("smddp")
    rank, world = dist.get_rank(), dist.get_world_size()
    numbers = torch.arange(10_001) * (rank + 1)
    dist.all_reduce(numbers)
    exact = torch.equal(numbers, torch.arange(10_001) * 6)
    highest = torch.tensor([float(rank)])
    dist.all_reduce(highest, op=dist.ReduceOp.MAX)
    gloo = dist.new_group(backend="gloo")
    ours = torch.randn(10_001, generator=torch.Generator().manual_seed(rank))
    theirs = ours.clone()
    dist.all_reduce(ours)
    dist.all_reduce(theirs, group=gloo)
    try:
        dist.all_reduce(torch.ones(5 + rank))
        sizes = "nothing"
    except RuntimeError as error:
        sizes = f"{type(error).__name__}: {error}"

    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(512, 1024), nn.Linear(1024, 1024), nn.Linear(1024, 7))
    model = nn.parallel.DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    store = dist.distributed_c10d._get_default_store()
    for step in range(3):
        torch.manual_seed(10 * step + rank)
        optimizer.zero_grad()
        output = model(torch.randn(4, 512))
        if step == 2 and rank == world - 1:
            output.register_hook(lambda _: store.wait([COMPUTED], LIMIT))
        if step == 2 and rank == 0:
            network[0].weight.register_hook(lambda _: say_computed(store))
        output.square().mean().backward()
        optimizer.step()
    own = nn.utils.parameters_to_vector(model.parameters()).detach()
    of_all = [torch.empty_like(own) for _ in range(world)]
    dist.all_gather(of_all, own)
    told = (
        f"rank {rank}: exact {exact} highest {highest.item():.0f} gloo {torch.allclose(ours, theirs, atol=1e-6)} "
        f"equal {all(torch.equal(own, each) for each in of_all)} sizes {sizes}"
    )
    print(told + "\n", end="", flush=True)  # noqa: T201 - one piece, as the ranks share a log
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""A user's program for PyTorch: every process brings its rank, and all of them learn the sum."""

import os

import torch
import torch.distributed as dist


def main() -> None:
    dist.init_process_group("gloo")
    number = torch.tensor([float(dist.get_rank() + 1)])
    dist.all_reduce(number)
    # One piece, because the lines of all processes come together in one log.
    print(  # noqa: T201 - scripts talk by their log
        f"rank {dist.get_rank()} of {dist.get_world_size()} sum {number.item():.0f} "
        f"master {os.environ['MASTER_ADDR']} interface {os.environ.get('GLOO_SOCKET_IFNAME')}\n",
        end="",
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

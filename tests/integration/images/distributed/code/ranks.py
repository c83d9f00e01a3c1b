"""What a user of MPI writes."""

from mpi4py import MPI

world = MPI.COMM_WORLD
total = world.allreduce(world.Get_rank() + 1)
# One piece, because the lines of all processes come together in one log.
print(f"rank {world.Get_rank()} of {world.Get_size()} sum {total}\n", end="", flush=True)  # noqa: T201 - its log is its voice

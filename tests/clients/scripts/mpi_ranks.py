"""A user's program for MPI: every process says who and where it is, and all of them add their numbers."""

import json
import os

from mpi4py import MPI

with open("/opt/ml/input/config/resourceconfig.json") as file:
    host = json.load(file)["current_host"]  # mpirun gives the variables of its own host to all processes
world = MPI.COMM_WORLD
total = world.allreduce(world.Get_rank() + 1)
# One piece, because the lines of all processes come together in one log.
print(  # noqa: T201 - scripts talk by their log
    f"rank {world.Get_rank()} of {world.Get_size()} local {os.environ.get('OMPI_COMM_WORLD_LOCAL_RANK')} on {host} "
    f"sum {total} {os.environ.get('GREETING', 'no greeting')}\n",
    end="",
    flush=True,
)

"""A script of a user of PyTorch that derives its rank from CLUSTER_SPEC; all replicas learn the sum of the ranks."""

import json

import environment_variables
import torch
import torch.distributed as dist
from show_replica import shown

cluster, task = environment_variables.cluster_spec["cluster"], environment_variables.cluster_spec["task"]
addresses = [address for group in sorted(cluster) for address in cluster[group]]
rank = addresses.index(cluster[task["type"]][task["index"]])
dist.init_process_group("gloo", init_method=f"tcp://{addresses[0]}", rank=rank, world_size=len(addresses))
number = torch.tensor([float(rank)])
dist.all_reduce(number)
print(json.dumps({**shown(), "rank": rank, "sum": number.item()}), flush=True)  # noqa: T201 - the test reads the log
dist.barrier()  # the job ends with the primary replica

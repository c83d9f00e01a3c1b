"""The surroundings of a replica, as one line of JSON: by the vendor's own module, which is beside this program.

With `--sum-ranks` it is a script of PyTorch, too: replicas derive their ranks from CLUSTER_SPEC and learn their sum.
"""

import json
import sys
from pathlib import Path

import environment_variables as found

_LIMITS = ("memory/memory.limit_in_bytes", "memory.max")


def main() -> None:
    """Print one line."""
    task = found.cluster_spec["task"]
    limit = next(path for name in _LIMITS if (path := Path("/sys/fs/cgroup", name)).exists())
    shown = {
        "cluster": found.cluster_spec["cluster"],
        "task": [task["type"], task["index"]],
        "tf_task": [found.tf_config["task"]["type"], found.tf_config["task"]["index"]],
        "job": found.cloud_ml_job_id,
        "model": getattr(found, "model_dir", None),
        "memory": int(limit.read_text()),
    }
    if sys.argv[1:] != ["--sum-ranks"]:
        print(json.dumps(shown))
        return
    import torch
    import torch.distributed as dist

    cluster = found.cluster_spec["cluster"]
    addresses = [address for group in sorted(cluster) for address in cluster[group]]
    rank = addresses.index(cluster[task["type"]][task["index"]])
    dist.init_process_group("gloo", init_method=f"tcp://{addresses[0]}", rank=rank, world_size=len(addresses))
    number = torch.tensor([float(rank)])
    dist.all_reduce(number)
    print(json.dumps({**shown, "rank": rank, "sum": number.item()}), flush=True)
    dist.barrier()  # the job ends with the primary replica
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

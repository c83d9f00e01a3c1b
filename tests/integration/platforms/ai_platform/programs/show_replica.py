"""What a replica finds, as one line of JSON: by the vendor's own module, which is beside this program."""

import json
from pathlib import Path

import environment_variables as found

_LIMITS = ("memory/memory.limit_in_bytes", "memory.max")


def shown() -> dict[str, object]:
    """What the module has read, and the container's memory."""
    limit = next(path for name in _LIMITS if (path := Path("/sys/fs/cgroup", name)).exists())
    return {
        "cluster": found.cluster_spec["cluster"],
        "task": [found.cluster_spec["task"]["type"], found.cluster_spec["task"]["index"]],
        "tf_task": None if found.tf_config is None else [found.tf_config["task"]["type"], found.tf_config["task"]["index"]],
        "job": found.cloud_ml_job_id,
        "model": getattr(found, "model_dir", None),
        "memory": limit.read_text().strip(),
    }


if __name__ == "__main__":
    print(json.dumps(shown()))  # noqa: T201 - the test reads the log

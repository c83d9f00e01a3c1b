"""SDK v2: a job for each way to distribute the work, all at the same time; prints what became of each.

The last words are `KIND=NAME`, with the name that the job of this kind gets.
"""

import json
import sys
import time
from typing import Any

import sagemaker
from sagemaker.exceptions import UnexpectedStatusException
from sagemaker.instance_group import InstanceGroup
from sagemaker.pytorch import PyTorch
from sagemaker.tensorflow import TensorFlow

torch_image, tensorflow_image, source, hosts, processes, *names = sys.argv[1:]
JOBS = dict(each.split("=") for each in names)
session = sagemaker.Session()
role = sagemaker.get_execution_role()

BEGUN = "waits for a stop"
_LOG_SECONDS = 600.0
ON_CPUS = {"instance_type": "ml.m5.large", "instance_count": 2}
ON_GPUS = {"instance_type": "ml.p4d.24xlarge", "instance_count": 2}
TORCH = {"SAGEMAKER_TRAINING_MODULE": "sagemaker_pytorch_container.training:main"}
TENSORFLOW = {"SAGEMAKER_TRAINING_MODULE": "sagemaker_tensorflow_container.training:main"}
PER_HOST = "sagemaker_mpi_num_of_processes_per_host"
"""A hyperparameter; without it there are as many as GPUs."""
SMDDP = {"smdistributed": {"dataparallel": {"enabled": True, "custom_mpi_options": "-x GREETING=hello"}}}
DATA, TRAIN = InstanceGroup("data", "ml.c5.xlarge", 1), InstanceGroup("train", "ml.m5.large", 2)
# The toolkit does not pass SIGTERM on, here as on the service; mpirun does. Other hosts end when mpirun's daemon has.
STOPPABLE = (
    "trap 'pkill -x mpirun || { while pgrep -x orted >/dev/null; do sleep 0.1; done; kill %1; }' TERM; "
    "train & wait; wait"
)

KINDS: dict[str, dict[str, Any]] = {
    "mpi": {
        "instance_groups": [DATA, TRAIN],
        "entry_point": "mpi_ranks.py",
        "distribution": {
            "mpi": {
                "enabled": True,
                "processes_per_host": 2,
                "custom_mpi_options": "-x GREETING=hello --NCCL_DEBUG INFO",
            },
            "instance_groups": [TRAIN],
        },
    },
    "torch-distributed": {
        **ON_CPUS,
        "entry_point": "torch_ranks.py",
        "environment": TORCH,
        "hyperparameters": {PER_HOST: 2},
        "distribution": {"torch_distributed": {"enabled": True}},
    },
    "pytorchddp": {
        **ON_GPUS,
        "entry_point": "torch_ranks.py",
        "environment": TORCH,
        "hyperparameters": {PER_HOST: 1, "then": "fail"},
        "distribution": {"pytorchddp": {"enabled": True}},
    },
    "smddp": {
        **ON_GPUS,
        "instance_count": int(hosts),
        "entry_point": "torch_ranks.py",
        "environment": TORCH,
        "hyperparameters": {PER_HOST: int(processes), "backend": "smddp"},
        "distribution": SMDDP,
    },
    "stopped": {
        **ON_GPUS,
        "entry_point": "torch_ranks.py",
        "environment": TORCH,
        "container_entry_point": ["bash", "-c", STOPPABLE],
        "hyperparameters": {PER_HOST: 1, "backend": "smddp", "then": "stop"},
        "distribution": {
            # Open MPI waits one second between SIGTERM and SIGKILL, which may be too short on a busy machine.
            "smdistributed": {
                "dataparallel": {"enabled": True, "custom_mpi_options": "-mca odls_base_sigkill_timeout 3"}
            }
        },
    },
    "parameter-servers": {
        **ON_CPUS,
        "entry_point": "parameter_servers.py",
        "distribution": {"parameter_server": {"enabled": True}},
    },
    "mirrored": {
        **ON_CPUS,
        "entry_point": "mirrored.py",
        "framework_version": "2.21.0",
        "py_version": "py311",  # the SDK asks for both, even with an image
        "distribution": {"multi_worker_mirrored_strategy": {"enabled": True}},
    },
}
OF_TENSORFLOW = {"image_uri": tensorflow_image, "environment": TENSORFLOW, "model_dir": "/opt/ml/model"}


def main() -> None:
    shared = {"source_dir": source, "role": role, "sagemaker_session": session, "max_run": 800}
    for kind, name in JOBS.items():
        if kind in {"parameter-servers", "mirrored"}:
            TensorFlow(**OF_TENSORFLOW, **shared, **KINDS[kind]).fit(job_name=name, wait=False)
        else:
            PyTorch(image_uri=torch_image, **shared, **KINDS[kind]).fit(job_name=name, wait=False)
    if "stopped" in JOBS:
        wait_for_line(JOBS["stopped"], BEGUN)
        session.stop_training_job(JOBS["stopped"])
    print(json.dumps({kind: end_of(name) for kind, name in JOBS.items()}))


def wait_for_line(name: str, text: str) -> None:
    """All ranks have said it: two."""
    logs = session.boto_session.client("logs")
    until = time.monotonic() + _LOG_SECONDS
    asked = {
        "logGroupName": "/aws/sagemaker/TrainingJobs",
        "logStreamNamePrefix": f"{name}/",
        "filterPattern": f'"{text}"',
    }
    while len(logs.filter_log_events(**asked)["events"]) < 2:
        if time.monotonic() > until:
            raise TimeoutError(name)
        time.sleep(0.3)


def end_of(name: str) -> str:
    while session.describe_training_job(name)["TrainingJobStatus"] == "Stopping":
        time.sleep(0.5)  # the SDK takes this for an end
    try:
        return str(session.wait_for_job(name, poll=1)["TrainingJobStatus"])
    except UnexpectedStatusException as error:
        return str(error)


main()

"""SDK v3: a job for each of these drivers, at the same time; prints the names and what became of each."""

import json
import sys

from sagemaker.core.resources import TrainingJob
from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute, SourceCode
from sagemaker.train.distributed import MPI, Torchrun

image, source, ending, *names = sys.argv[1:]
TRAINERS = {
    "torchrun": (Torchrun(process_count_per_node=1), "torch_ranks.py"),
    "mpirun": (MPI(process_count_per_node=2, mpi_additional_options=["-x", "GREETING=hello"]), "mpi_ranks.py"),
}

for name in names:
    distributed, script = TRAINERS[name]
    trainer = ModelTrainer(
        training_image=image,
        source_code=SourceCode(source_dir=source, entry_script=script),
        distributed=distributed,
        compute=Compute(instance_type="ml.m5.large", instance_count=2),
        base_job_name=f"sdk3-{name}-{ending}",
    )
    trainer.train(wait=False, logs=False)
became = {}
for name in names:
    (job,) = TrainingJob.get_all(name_contains=f"sdk3-{name}-{ending}")
    job.wait(poll=1)
    became[name] = [job.training_job_name, job.training_job_status]
print(json.dumps(became))

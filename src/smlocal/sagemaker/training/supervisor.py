"""Jobs of SageMaker are supervised as `job` does it."""

from typing import Final

from smlocal.jobs.container_supervisor import ContainerSupervisor

SUPERVISOR: Final = ContainerSupervisor

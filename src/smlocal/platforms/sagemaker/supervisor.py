"""Jobs of SageMaker are supervised as `job` does it."""

from typing import Final

from smlocal.job.supervisor import Supervisor

SUPERVISOR: Final = Supervisor

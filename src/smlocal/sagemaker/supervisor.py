"""Jobs of SageMaker are supervised as `job` does it."""

from typing import Final

from smlocal.jobs.supervisor import Supervisor

SUPERVISOR: Final = Supervisor

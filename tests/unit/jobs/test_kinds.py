"""Each kind of job has what `jobs.kinds` asks of it. mypy holds by the lists that modules fit the protocols."""

from importlib import import_module
from typing import Any

import pytest

from smlocal.ai_platform import preparing as replicas_preparing
from smlocal.ai_platform import running as replicas_running
from smlocal.ai_platform import showing as replicas_showing
from smlocal.jobs.kinds import KINDS, Preparing, Running, Showing
from smlocal.jobs.supervision import supervisor_of
from smlocal.jobs.supervisor import Supervisor
from smlocal.sagemaker import preparing as training_preparing
from smlocal.sagemaker import running as training_running
from smlocal.sagemaker import showing as training_showing
from smlocal.sagemaker.hosting import preparing as hosting_preparing
from smlocal.sagemaker.hosting import running as hosting_running
from smlocal.sagemaker.hosting import showing as hosting_showing
from smlocal.sagemaker.processing import preparing as processing_preparing
from smlocal.sagemaker.processing import running as processing_running
from smlocal.sagemaker.processing import showing as processing_showing
from smlocal.sagemaker.transform import preparing as transform_preparing
from smlocal.sagemaker.transform import running as transform_running
from smlocal.sagemaker.transform import showing as transform_showing
from smlocal.sagemaker.tuning import preparing as tuning_preparing
from smlocal.sagemaker.tuning import running as tuning_running
from smlocal.sagemaker.tuning import showing as tuning_showing

PREPARING: list[Preparing] = [
    *(training_preparing, replicas_preparing, hosting_preparing),
    *(transform_preparing, processing_preparing, tuning_preparing),
]
RUNNING: list[Running] = [
    *(training_running, replicas_running, hosting_running),
    *(transform_running, processing_running, tuning_running),
]
SHOWING: list[Showing] = [
    *(training_showing, replicas_showing, hosting_showing),
    *(transform_showing, processing_showing, tuning_showing),
]


PARTS: dict[str, tuple[type, list[Any]]] = {
    "preparing": (Preparing, [*PREPARING]),
    "running": (Running, [*RUNNING]),
    "showing": (Showing, [*SHOWING]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_a_row_and_a_folder(kind: str) -> None:
    for name, (protocol, known) in PARTS.items():
        module = import_module(f"{KINDS[kind]}.{name}")
        asked = {member for member in vars(protocol) if not member.startswith("_")}
        assert asked - vars(module).keys() == set()
        assert module in known
    assert issubclass(supervisor_of(kind), Supervisor)

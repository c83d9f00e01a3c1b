"""Each kind of job has what `job.kinds` asks of it. mypy holds by the lists that modules fit the protocols."""

from importlib import import_module
from typing import Any

import pytest

from smlocal.job.kinds import KINDS, Preparing, Running, Showing
from smlocal.job.supervision import supervisor_of
from smlocal.job.supervisor import Supervisor
from smlocal.platforms.ai_platform import preparing as replicas_preparing
from smlocal.platforms.ai_platform import running as replicas_running
from smlocal.platforms.ai_platform import showing as replicas_showing
from smlocal.platforms.sagemaker import preparing as training_preparing
from smlocal.platforms.sagemaker import running as training_running
from smlocal.platforms.sagemaker import showing as training_showing

PREPARING: list[Preparing] = [training_preparing, replicas_preparing]
RUNNING: list[Running] = [training_running, replicas_running]
SHOWING: list[Showing] = [training_showing, replicas_showing]


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

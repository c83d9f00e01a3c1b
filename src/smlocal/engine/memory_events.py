"""Docker's word that a container ran out of memory, which may come too late for the container's state.

Docker hears of an end and of its cause apart. Where it hears of the end first, as happens on a busy machine, the state
says for ever that memory sufficed; whoever listens to Docker's events is told the truth.
"""

import json
from datetime import datetime, timedelta

from smlocal.engine.client import Client
from smlocal.engine.interface import ContainerState
from smlocal.errors import EngineError

_KILLED = 137
_PATIENCE = timedelta(seconds=1)
"""Half a second was the longest by which the word came after the end, of hundreds on a busy machine."""


def ran_out_of_memory(client: Client, container: str, state: ContainerState, *, killed_by_us: bool) -> bool:
    """Look for the word that came while the container ran, and wait a moment for one that explains a SIGKILL."""
    late = _PATIENCE if state.exit_code == _KILLED and not killed_by_us else timedelta()
    parameters = {
        "since": "1",  # of a short life Docker may say that it began after its end
        "until": f"{(datetime.fromisoformat(state.finished_at) + late).timestamp():.6f}",  # by the engine's own clock
        "filters": json.dumps({"container": [container], "event": ["oom"]}),
    }
    try:
        with client.ask("GET", "/events", parameters=parameters) as answer:
            return any(answer.lines())
    except EngineError:  # some let through only what they know
        return False

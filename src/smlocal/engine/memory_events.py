"""Finds out from Docker's events whether a container ran out of memory.

Docker learns of the end and of its cause separately. If it learns of the end first, as on a busy machine, the
container's state never says that memory ran out, but the events do.
"""

import json
from datetime import datetime, timedelta

from smlocal.engine.client import Client
from smlocal.engine.interface import ContainerState
from smlocal.errors import EngineError

_KILLED = 137
_DELAY = timedelta(seconds=1)
"""How late the event may be; at most half a second was measured in hundreds of cases on a busy machine."""


def ran_out_of_memory(client: Client, container: str, state: ContainerState, *, killed_by_us: bool) -> bool:
    """Look for the event until the end of the container; after a SIGKILL that is not ours, a little longer."""
    late = _DELAY if state.exit_code == _KILLED and not killed_by_us else timedelta()
    parameters = {
        "since": "1",  # Docker may report the start of a short container after its end
        "until": f"{(datetime.fromisoformat(state.finished_at) + late).timestamp():.6f}",  # by the engine's own clock
        "filters": json.dumps({"container": [container], "event": ["oom"]}),
    }
    try:
        with client.ask("GET", "/events", parameters=parameters) as answer:
            return any(answer.lines())
    except EngineError:  # some proxies allow only certain calls
        return False

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smlocal.store.lease import Lease


def test_a_supervisor_that_still_writes_is_waited_for(
    remember: Callable[..., None], smlocal: Callable[..., Any], tmp_path: Path
) -> None:
    """Whoever has waited finds `describe.json`, which is written once the job has ended."""
    remember("written", reason="AlgorithmError: , exit code: 1")
    folder = tmp_path / "jobs" / "written"
    lease = Lease.take(str(folder))
    assert lease is not None
    answer = folder / "describe.json"

    def write() -> None:
        answer.write_text("{}")
        lease.release()

    writer = threading.Timer(0.3, write)
    writer.start()
    done = smlocal("wait", "written")
    assert (done.returncode, answer.exists()) == (1, True)
    writer.join()

from collections.abc import Callable
from pathlib import Path
from typing import Any

from smlocal.jobs.store.lease import Lease

TIMED_OUT = 124


def test_a_supervisor_that_still_writes_is_waited_for(
    remember: Callable[..., None], smlocal: Callable[..., Any], tmp_path: Path
) -> None:
    """Whoever has waited finds `describe.json`, which is written once the job has ended."""
    remember("written", reason="AlgorithmError: , exit code: 1")
    lease = Lease.take(str(tmp_path / "jobs" / "written"))
    assert lease is not None
    with lease:
        assert smlocal("wait", "written", "--timeout", "0.2").returncode == TIMED_OUT
    assert smlocal("wait", "written").returncode == 1

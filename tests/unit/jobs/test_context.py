"""The phases of a job, and a stop that is stored before anybody has woken the supervisor."""

from pathlib import Path

import pytest

from smlocal.jobs.context import Phases
from smlocal.jobs.control.requests import StopRequests
from smlocal.jobs.decide.events import StagingStoppedError
from smlocal.jobs.history import STOP
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.view import Reporter
from smlocal.terms.statuses import JobPhase, PhaseMessage


def test_a_stored_stop_is_found_with_the_next_phase_or_message(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "home")) as store, StopRequests() as requests:
        store.create("one", run_id="1", created=1.0, documents={}, supervisor_pid=1).release()
        phases = Phases(store=store, job="one", reporter=Reporter(), events=requests.events)
        phases.begin()
        phases.enter(JobPhase.DOWNLOADING, PhaseMessage.DOWNLOADING_DATA)
        requests.check()
        store.add_request("one", at=2.0, kind=STOP, data={}, stopping=PhaseMessage.STOPPING)
        phases.change_message(PhaseMessage.DOWNLOADING_IMAGE)
        with pytest.raises(StagingStoppedError):
            requests.check()
        requests.events.next(0)
        requests.check()
        phases.enter(JobPhase.TRAINING, PhaseMessage.TRAINING)
        with pytest.raises(StagingStoppedError):
            requests.check()

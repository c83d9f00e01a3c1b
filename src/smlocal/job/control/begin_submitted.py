"""Begin a submitted job in this process: prepare what was only recorded, and supervise it to its end."""

import time
from contextlib import ExitStack

from smlocal.contract.failures import INTERNAL_ERROR
from smlocal.contract.statuses import JobStatus, PhaseMessage, StopCause
from smlocal.engine.docker import connect
from smlocal.engine.engines import engines_at
from smlocal.errors import SmlocalError
from smlocal.job.container_events import unexpected_error
from smlocal.job.control.stop_requests import StagingStoppedError, StopSignals
from smlocal.job.documents import JOB
from smlocal.job.event_kinds import BEGINNING, STOP
from smlocal.job.finish.unprepared import fail_unprepared, fail_with, stop_unprepared
from smlocal.job.platform import platform_named
from smlocal.job.prepared import Prepared
from smlocal.job.reporter import Reporter
from smlocal.job.supervision import supervise_submitted
from smlocal.store.jobs import Store

_MOST_BEGINNINGS = 3
"""A job that ends its process each time it is prepared is not begun for ever."""


def begin_submitted(store: Store, name: str, requests: StopSignals) -> None:
    """Prepare and supervise it. This process holds its lease. What prevents a job in `smlocal run` fails it here."""
    with ExitStack() as stack:
        try:
            if _began_too_often(store, name):
                why = f"smlocal was killed {_MOST_BEGINNINGS} times while it prepared this job"
                fail_with(store, name, INTERNAL_ERROR, explanation=why)
                return
            prepared = _prepare_unless_stopped(store, name, requests)
            if prepared is None:
                stop_unprepared(store, name)
                return
            if prepared.credentials is not None:
                stack.enter_context(prepared.credentials.ready())
        except SmlocalError as error:
            fail_unprepared(store, name, error)
            return
        except Exception as error:
            fail_with(store, name, INTERNAL_ERROR, explanation=unexpected_error(error))
            raise
        supervise_submitted(
            prepared,
            engines=engines_at(prepared.plan.engine_addresses),
            store=store,
            reporter=Reporter(),
            requests=requests,
        )


def _began_too_often(store: Store, name: str) -> bool:
    store.add_event(name, time.time(), BEGINNING, {})
    return sum(event.kind == BEGINNING for event in store.events(name)) > _MOST_BEGINNINGS


def _prepare_unless_stopped(store: Store, name: str, requests: StopSignals) -> Prepared | None:
    """None if the job is to be stopped: by a stored request, or by a signal, which may come at any moment."""
    while store.get(name).status is not JobStatus.STOPPING:
        try:
            with requests.interruptible():
                return _prepare(store, name)
        except StagingStoppedError:
            while requests.events.next(0) is not None:
                pass
            if requests.signal is not None:
                data = {"Cause": StopCause.REQUEST, "Grace": None}
                store.add_request(name, at=time.time(), kind=STOP, data=data, stopping=PhaseMessage.STOPPING)
    return None


def _prepare(store: Store, name: str) -> Prepared:
    if store.left_on_engines():
        from smlocal.job.finish.engine_leftovers import clear_this_engine

        for _ in clear_this_engine(store, connect()):
            pass
    record = store.get(name)
    return platform_named(record.platform).prepare_recorded(
        store.document(name, JOB), record, home=store.home, reporter=Reporter()
    )

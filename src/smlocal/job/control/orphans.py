"""See to it that every unfinished job has a supervisor, whatever became of its first one."""

from collections.abc import Callable

from smlocal.errors import JobNotAdoptedError
from smlocal.job.control.detach import leave_behind
from smlocal.job.finish.describe import NOT_ADOPTED
from smlocal.store.jobs import Store
from smlocal.store.lease import supervised


def see_to(store: Store, name: str) -> bool:
    """Give an orphan a supervisor in a process of its own; True when there was need. An unknown job is an error."""
    record = store.get(name)
    if record.status.terminal or supervised(store.directory(name)):
        return False
    with store.let_go():
        leave_behind(adopt_orphan, home=store.home, name=name)
    return True


def adopt_orphan(begun: Callable[[], None], *, home: str, name: str) -> None:
    """Supervise an orphan in this process, to its end."""
    from smlocal.engine.docker import connect_to
    from smlocal.job.control.adopt import adopt

    with Store.open(home) as store:
        adopt(store, name, connect_to, begun)


def why_not_adopted(store: Store, name: str, *, since: float) -> JobNotAdoptedError | None:
    """What kept the last supervisor from taking up the job, if that was tried at this time or later."""
    document = store.document(name, NOT_ADOPTED)
    return None if document is None or document["At"] < since else not_adopted(name, document["Why"])


def not_adopted(name: str, why: str) -> JobNotAdoptedError:
    """The error for a job that stays without a supervisor."""
    return JobNotAdoptedError(
        f"the job '{name}' has no supervisor and was not changed",
        details=[why],
        remedy=[
            "Containers that are running keep running. Check the engine (smlocal doctor), then run: smlocal recover"
        ],
    )


def orphans(store: Store) -> list[str]:
    """Unfinished jobs that nobody supervises."""
    return [record.name for record in store.unfinished() if not supervised(store.directory(record.name))]

"""See to it that every unfinished job has a supervisor, whatever became of its first one."""

from collections.abc import Callable

from smlocal.job.detach import leave_behind
from smlocal.store.jobs import Store
from smlocal.store.lease import supervised


def see_to(store: Store, name: str) -> bool:
    """Give an orphan a supervisor in a process of its own; True when there was need. An unknown job is an error."""
    record = store.get(name)
    if record.status.terminal or supervised(store.directory(name)):
        return False
    home = store.home

    def work(begun: Callable[[], None]) -> None:
        from smlocal.engine.docker import connect
        from smlocal.job.adopt import adopt

        with Store.open(home) as own:
            adopt(own, name, connect, begun)

    with store.let_go():
        leave_behind(work)
    return True


def orphans(store: Store) -> list[str]:
    """Unfinished jobs that nobody supervises."""
    return [record.name for record in store.unfinished() if not supervised(store.directory(record.name))]

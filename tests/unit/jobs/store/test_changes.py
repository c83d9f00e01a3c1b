"""A change by any connection is noticed."""

from pathlib import Path

from smlocal.jobs.store.database import StoreChanges
from smlocal.jobs.store.jobs import Store


def test_each_change_gives_another_number(store: Store, home: Path) -> None:
    with StoreChanges(str(home)) as changes:
        before = changes.number()
        assert changes.number() == before
        store.list()
        assert changes.number() == before
        store.create("job", run_id="0", created=1.0, documents={}, supervisor_pid=1).release()
        after = changes.number()
        assert after != before
        with Store.open(str(home)) as other:
            other.add_event("job", 1.0, "stop", {})
        assert changes.number() != after

"""Resources that are no jobs."""

from pathlib import Path

import pytest

from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.resources import StoredResource


def resource(name: str, *, kind: str = "model", at: float = 1.0) -> StoredResource:
    return StoredResource(kind=kind, name=name, arn=f"arn:{kind}/{name}", created=at, modified=at, body={"A": [1]})


def test_one_is_made_found_changed_and_removed(store: Store) -> None:
    assert store.add_resource(resource("a"))
    assert not store.add_resource(resource("a", at=2.0))
    assert store.add_resource(resource("a", kind="endpoint"))
    assert store.resource("model", "a") == resource("a")
    assert store.resource_of("arn:endpoint/a") == resource("a", kind="endpoint")
    assert store.resource("model", "b") is None
    assert store.resource_of("arn:model/b") is None

    changed = store.change_resource("model", "a", lambda body: {**body, "B": 2}, at=5.0004)
    assert changed is not None
    assert (changed.body, changed.created, changed.modified) == ({"A": [1], "B": 2}, 1.0, 5.0)
    same = store.change_resource("model", "a", lambda body: body, at=9.0)
    assert same == changed  # nothing has changed
    assert store.change_resource("model", "b", lambda body: body, at=9.0) is None

    assert store.change_resource("model", "a", lambda _: None, at=9.0) is None
    assert store.resource("model", "a") is None
    assert store.resources("endpoint") == [resource("a", kind="endpoint")]


def test_they_are_listed_from_the_oldest_and_another_process_sees_them(store: Store, home: Path) -> None:
    for name, at in (("b", 2.0), ("a", 2.0), ("c", 1.0)):
        store.add_resource(resource(name, at=at))
    with Store.open(str(home)) as other:
        assert [each.name for each in other.resources("model")] == ["c", "a", "b"]


def test_a_change_that_is_refused_changes_nothing(store: Store) -> None:
    store.add_resource(resource("a"))

    def refuse(_: dict[str, object]) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        store.change_resource("model", "a", refuse, at=2.0)
    assert store.resource("model", "a") == resource("a")

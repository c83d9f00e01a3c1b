"""A store in a folder of its own, and a job in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from smlocal.jobs.store.jobs import Store


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    with Store.open(str(home)) as opened:
        yield opened


@pytest.fixture
def job(store: Store) -> str:
    store.create("job-1", run_id="0123abcd", created=1000.0, documents={}, supervisor_pid=42)
    return "job-1"

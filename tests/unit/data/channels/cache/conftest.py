from pathlib import Path

import pytest
from tests.unit.data.channels.cache.shelf import Shelf

from smlocal.data.channels.cache.folder import Cache


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(cache=Cache(home=str(tmp_path / "home")))

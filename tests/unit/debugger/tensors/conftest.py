from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.kit.tensor_files import save


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tensors"


@pytest.fixture
def saved(folder: Path) -> Callable[..., None]:
    """Adds tensors of one step and worker to the folder."""
    return partial(save, folder)

from collections.abc import Callable

import pytest
from tests.kit import until


@pytest.fixture
def wait_for() -> Callable[[Callable[[], bool]], None]:
    """Waits for something that must come about."""
    return until

import time
from collections.abc import Callable

import pytest


@pytest.fixture
def wait_for() -> Callable[[Callable[[], bool]], None]:
    """Polls for something that must come about, within minutes on a busy machine."""

    def wait(condition: Callable[[], bool]) -> None:
        for _ in range(2000):
            if condition():
                return
            time.sleep(0.1)
        pytest.fail("it did not come about")

    return wait

import time
from collections.abc import Callable

import pytest


@pytest.fixture
def wait_for() -> Callable[[Callable[[], bool]], None]:
    """Polls for something that must come about within a minute."""

    def wait(condition: Callable[[], bool]) -> None:
        for _ in range(600):
            if condition():
                return
            time.sleep(0.1)
        pytest.fail("it did not come about within a minute")

    return wait

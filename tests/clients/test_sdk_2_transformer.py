"""SDK v2's Transformer, unmodified."""

from collections.abc import Callable

import pytest
from tests.clients.conftest import User, last_json


@pytest.mark.slow(11)
@pytest.mark.long
def test_a_transformer_shows_its_log_and_its_output_is_read(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-2", "sdk2_transformer.py", image("transform"), "sdk2-transformer")
    assert last_json(done.stdout) == {
        "status": "Completed",
        "strategy": "SingleRecord",
        "environment": {"SEEN": "of the job"},
        "output": "id1,A\nid2,B\n",
    }
    assert "serving" in done.stdout
    assert "MaxConcurrentTransforms=2, MaxPayloadInMB=1, BatchStrategy=SINGLE_RECORD" in done.stdout
    assert_nothing_left("sdk2-transformer")

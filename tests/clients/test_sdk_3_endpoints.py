"""SDK v3 and sagemaker-core on endpoints."""

from collections.abc import Callable

import pytest
from tests.clients.conftest import User, last_json


@pytest.mark.slow(9)
@pytest.mark.long
def test_resources_of_an_endpoint_are_made_asked_updated_and_deleted(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-3", "sdk3_endpoint.py", image("serve"), "sdk3-endpoint")
    assert last_json(done.stdout) == {
        "first": "1,2",
        "variant": "AllTraffic",
        "second": "1,2",
        "found": ["sdk3-endpoint"],
        "left": [0, 0, 0],
    }
    assert_nothing_left("sdk3-endpoint")
    assert_nothing_left("sdk3-endpoint-2")


@pytest.mark.slow(12)
@pytest.mark.long
def test_a_model_builder_deploys_an_image_of_ones_own(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-3", "sdk3_model_builder.py", image("serve"), "sdk3-builder")
    answer = {"/opt/ml/model/weights.txt": "trained"}
    assert last_json(done.stdout) == {"model": "sdk3-builder", "answer": answer}
    assert "smlocal: 1 endpoint of this program" in done.stderr
    assert_nothing_left("sdk3-builder")

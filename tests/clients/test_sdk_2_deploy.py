"""SDK v2 on endpoints: `deploy`, `predict` with serializers, `update_endpoint`."""

from collections.abc import Callable

import pytest
from tests.clients.conftest import User, last_json


@pytest.mark.slow(28)
@pytest.mark.long
def test_an_estimator_is_deployed_asked_updated_and_deleted(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-2", "sdk2_deploy.py", image("serve"), "sdk2-deploy")
    assert last_json(done.stdout) == {
        "model": {"/opt/ml/model/weights.txt": "trained\n"},
        "rows": ["1,2\n3,4", "text/csv", "application/json"],
        "attributes": "trace=1",
        "document": ['{"a": [1]}', "application/json"],
        "array": [1.5, 2.5],
        "left": [],
    }
    assert "smlocal: 1 training job, 2 endpoints of this program" in done.stderr
    for name in ("sdk2-deploy-job", "sdk2-deploy", "sdk2-deploy-2", "sdk2-deploy-echoes"):
        assert_nothing_left(name)

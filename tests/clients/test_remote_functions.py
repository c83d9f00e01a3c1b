"""Functions with `@remote` of both SDKs."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.clients.conftest import User, last_json


@pytest.mark.slow(40)
@pytest.mark.long
@pytest.mark.parametrize("sdk", ["sdk-2", "sdk-3"])
def test_functions_run_in_containers(
    sdk: str, user: User, image: Callable[[str], str], smlocal_run: Callable[..., Any]
) -> None:
    done = user.execute(sdk, "sdk_remote.py", image(sdk), image("py"))
    found = last_json(done.stdout)
    assert "Error" in found.pop("missing")
    assert found == {"found": 2.0, "results": [0.25], "failed": "division by zero"}
    failed = json.loads(smlocal_run("describe", "--json", check=True).stdout)
    assert "Functions with @remote and @step are run by the SageMaker SDK" in json.dumps(failed["Local"]["Hints"])

"""The owner's settings in `Local` for jobs of clients, who know nothing of this machine."""

from dataclasses import replace
from typing import Any

import pytest

from smlocal.endpoint.sagemaker.request_folders import local_block
from smlocal.endpoint.serving import Options, Serving


@pytest.mark.parametrize(
    ("asked", "allow_cpu"),
    [({}, True), ({"MaxHosts": 3}, True), ({"AllowCpu": False}, False), ({"Gpus": 2}, None), ({"Gpus": "none"}, None)],
)
def test_what_a_request_says_itself_counts(serving: Serving, asked: dict[str, Any], allow_cpu: bool | None) -> None:
    on_cpus = replace(serving, options=Options(local={"AllowCpu": True}))
    assert local_block(on_cpus, {"Local": asked}).get("AllowCpu") is allow_cpu
    assert "AllowCpu" not in local_block(serving, {})

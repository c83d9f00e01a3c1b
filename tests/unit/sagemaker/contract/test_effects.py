"""Members whose effect is a line of a config file and no more."""

import json
from typing import Any

from smlocal.sagemaker.contract.documents.config_files import config_files, homogeneous


def _channel(job: Any) -> Any:
    hosts = homogeneous(1, "ml.m5.large")
    files = config_files(job.request, hosts[0], hosts)
    return json.loads(files["inputdataconfig.json"])["train"]


def test_input_mode_of_a_channel(request_with: Any, read: Any) -> None:
    assert _channel(read(request_with("InputDataConfig[].InputMode", "File")))["TrainingInputMode"] == "File"
    assert _channel(read(request_with("InputDataConfig[].InputMode", "FastFile")))["TrainingInputMode"] == "FastFile"

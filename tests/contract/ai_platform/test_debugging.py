"""Settings of this machine that a job of replicas has as every job does: a debugger, and further names."""

import socket
from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.slow(4)
def test_a_replica_waits_for_a_debugger_and_knows_added_names(replicas: Any, image: Callable[[str], str]) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    replicas.image = image("debugpy")
    script = "grep mlflow /etc/hosts; exec train"
    replicas.begin_job(replicas.custom_job("waits", (1, script), DebugPort=port, AddHosts={"mlflow": "10.1.2.3"}))
    replicas.until_logged("waits", f"waits for a debugger (debugpy) at 127.0.0.1:{port}", host="workerpool0-0")
    assert "10.1.2.3\tmlflow" in replicas.log("waits", host="workerpool0-0")
    replicas.ask_to_stop("waits")
    notes = {each["Id"] for each in replicas.finished("waits")["Local"]["Notes"]}
    assert {"debug", "hosts-added"} <= notes

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run
from tests.kit.forked import run_smlocal

from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED, FAILED, JobPhase, JobStatus, PhaseMessage


@pytest.fixture
def remember(tmp_path: Path) -> Callable[..., None]:
    """Puts a job that ran for 2.6 seconds into the home of this test."""

    def make(
        name: str,
        *,
        reason: str | None = None,
        local: Mapping[str, Any] | None = None,
        uri: str = "file:///out/model.tar.gz",
        ended: bool = True,
        instances: int = 1,
        recall: Mapping[str, Any] | None = None,
        platform: str = "sagemaker",
        documents: Mapping[str, Any] | None = None,
        phase: JobPhase = JobPhase.TRAINING,
    ) -> None:
        began = float(int(time.time()) - 3600)
        with Store.open(str(tmp_path)) as store:
            stored: dict[str, Any] = {"request": {}, **({"recall": recall} if recall else {}), **(documents or {})}
            more: dict[str, Any] = {"model_uri": uri, "instances": instances, "platform": platform}
            if phase is JobPhase.PENDING:
                store.add_pending(name, run_id="0" * 8, created=began, documents=stored, arn="", **more)
                return
            store.create(name, run_id="0" * 8, created=began, documents=stored, supervisor_pid=os.getpid(), **more)
            store.transition(
                name,
                status=JobStatus.IN_PROGRESS,
                phase=phase,
                message=PhaseMessage.TRAINING,
                at=began,
                start_training=True,
            )
            if local is not None:
                store.put_document(name, "local", local)
            if not ended:
                return
            end = COMPLETED if reason is None else FAILED
            store.transition(
                name,
                status=end.status,
                phase=end.phase,
                message=end.message,
                at=began + 2.6,
                failure_reason=reason,
            )

    return make


@pytest.fixture
def smlocal(tmp_path: Path) -> Run:
    """Runs a command that looks at the home of this test."""

    def run(*arguments: str, cwd: Path | None = None, **env: str) -> "subprocess.CompletedProcess[str]":
        return run_smlocal(arguments, environment={**os.environ, "SMLOCAL_HOME": str(tmp_path), **env}, cwd=cwd)

    return run


@pytest.fixture
def error_of() -> Callable[["subprocess.CompletedProcess[str]"], dict[str, Any]]:
    """The error document that a refused command with --json printed."""

    def read(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
        error: dict[str, Any] = json.loads(done.stdout)["Error"]
        return error

    return read

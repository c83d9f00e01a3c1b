"""Why a program failed or left no model: what `check` finds in its image, else what its output shows."""

import re
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from smlocal.job.decide.attempt_outcome import Symptoms, Trouble

if TYPE_CHECKING:
    from smlocal.job.decide.attempt_outcome import Archive
    from smlocal.planning.model import HostPlan, JobPlan

_NO_PROGRAM = (
    r"^exec \S+: |exec user process caused|exec format error|\\r'|[^\w.-]train: (?:[Nn]o such file|not found)"
    r"|exec train failed|(?:can't|[Cc]annot) open (?:file )?'?(?:\S{0,500}/)?train\b|bad interpreter"
    r"|cannot execute: required file not found|can't execute|env: .{0,200}No such file"
)
"""Of the kernel, shells, init programs and interpreters that did not find what they are to run."""


class _AfterFailure(Protocol):
    """What is used of `smlocal.check.after_failure`."""

    def program_hint(self, plan: "JobPlan", archive: "Archive") -> str | None: ...

    def signal_hint(self, plan: "JobPlan", archive: "Archive") -> str | None: ...


def hint(plan: "JobPlan", host: "HostPlan", symptoms: Symptoms) -> str | None:
    """The one that explains most; None if nothing is known."""
    if symptoms.trouble is Trouble.NO_MODEL:
        from smlocal.platforms.sagemaker.outcome.lost_model import lost_model

        return lost_model(symptoms.log)
    if symptoms.trouble is Trouble.NOT_STOPPED:
        return _check().signal_hint(plan, symptoms.archive)
    if symptoms.trouble is Trouble.NOT_STARTED or re.search(_NO_PROGRAM, symptoms.log, re.MULTILINE):
        found = _check().program_hint(plan, symptoms.archive)
        if found is not None:
            return found
    if symptoms.trouble is Trouble.NOT_STARTED:
        return None
    from smlocal.platforms.sagemaker.outcome.log_hints import log_hint

    return log_hint(plan, host, symptoms)


def _check() -> _AfterFailure:
    """By name, as a platform is: `check` runs jobs, so it stands above this. It is loaded after a failure only."""
    module: _AfterFailure = import_module("smlocal.check.after_failure")
    return module

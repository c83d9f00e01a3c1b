"""The container that evaluates one rule: its mounts, its rights, and its report of the evaluation."""

import json
import os
import stat
from collections.abc import Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.debugger.action_socket import (
    FOLDER_IN_CONTAINER,
    SOCKET_IN_CONTAINER,
    acts,
    client_environment,
    socket_folder,
)
from smlocal.debugger.evaluator import evaluator_tag
from smlocal.engine.interface import JOB_LABEL, RULE_LABEL, RUN_LABEL, ContainerSpec, Mount
from smlocal.jobs.planning.aspects.rules.plan import RulePlan
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.contract.outcome.rule_statuses import RuleStatus
from smlocal.terms.limits import Limits

MEMORY = 2 << 30
"""Bytes."""
_PROCESSES = 256
_CONFIGURATION = "/smlocal"
_PACKAGE = "/smlocal-rules"
_TENSORS = "/smlocal-tensors"
_TRIALS = "/smlocal-trials"
_SOURCE = "/smlocal-source"
_NOBODY = "65534:65534"
_PACKAGE_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "evaluator_package")


def result_folder(plan: JobPlan, number: int) -> str:
    """The folder that the rule writes as its LocalPath."""
    return f"{plan.job_directory}/rules/{number}/result"


def rule_container(plan: JobPlan, number: int, rule: RulePlan, tensors: str) -> ContainerSpec:
    """Prepare the folders of a rule; returns its container. All that it names is on this machine.

    `tensors`: the local folder with the tensors of the job.
    """
    configuration = f"{plan.job_directory}/rules/{number}/configuration"
    os.makedirs(configuration, exist_ok=True)
    result = result_folder(plan, number)
    os.makedirs(result, exist_ok=True)
    os.chmod(result, 0o777)  # noqa: S103 - the user of the container is another one
    with open(f"{configuration}/rule.json", "w", encoding="utf-8") as file:
        json.dump(_document(plan, rule), file)
    mounts = [
        Mount(source=configuration, target=_CONFIGURATION, read_only=True),
        Mount(source=tensors, target=_TENSORS, read_only=True),
        Mount(source=result, target=rule.local_path),
        *(
            Mount(source=folder, target=f"{_TRIALS}/{index}", read_only=True)
            for index, folder in enumerate(rule.trials)
        ),
    ]
    if rule.source is not None:
        mounts.append(Mount(source=rule.source, target=_source_in_container(rule.source), read_only=True))
    if acts(rule):
        mounts.append(Mount(source=socket_folder(plan), target=FOLDER_IN_CONTAINER, read_only=True))
    ours = rule.image is None
    if ours:
        mounts.append(Mount(source=_PACKAGE_HERE, target=_PACKAGE, read_only=True))
    return ContainerSpec(
        name=f"smlocal-{plan.name}-{plan.run_id}-rule-{number}",
        image=rule.image or evaluator_tag(),
        labels={JOB_LABEL: plan.name, RUN_LABEL: plan.run_id, RULE_LABEL: str(number)},
        entrypoint=("python3", "-m", "smlocal_rules", f"{_CONFIGURATION}/rule.json") if ours else None,
        command=() if ours else None,
        environment={
            "SMLOCAL_RULE": f"{_CONFIGURATION}/rule.json",
            **({"PYTHONPATH": _PACKAGE, "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/tmp"} if ours else {}),  # noqa: S108 - the only folder that this user may write to
            "SMDEBUG_TRAINING_END_DELAY_REFRESH": "0",  # the end marker comes after the last tensor
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            **(client_environment(number, plan.identity.region) if acts(rule) else {}),
        },
        hostname="",
        user=_user(plan),
        mounts=tuple(mounts),
        network="none",
        limits=Limits(memory=MEMORY, cpus=1.0, processes=_PROCESSES),
        behind_others=True,
    )


def _user(plan: JobPlan) -> str:
    if plan.engines.first.rootless:
        return "0:0"  # who is this machine's user, without privileges; any other could not be read by this user
    return _NOBODY if os.geteuid() == 0 else f"{os.geteuid()}:{os.getegid()}"


def _document(plan: JobPlan, rule: RulePlan) -> dict[str, object]:
    return {
        "RuleConfigurationName": rule.name,
        "RuleParameters": dict(rule.parameters),
        "TensorsPath": _TENSORS,
        "OtherTrials": [f"{_TRIALS}/{index}" for index in range(len(rule.trials))],
        "SourcePath": None if rule.source is None else _source_in_container(rule.source),
        "ResultPath": rule.local_path,
        "JobName": plan.name,
        "EndpointSocket": SOCKET_IN_CONTAINER if acts(rule) else None,
    }


def _source_in_container(source: str) -> str:
    return f"{_SOURCE}/{os.path.basename(source)}"


_STATUS_FILE = "status.json"
_MOST_STATUS_BYTES = 1 << 16
_SAID = {RuleStatus.IN_PROGRESS, RuleStatus.NO_ISSUES_FOUND, RuleStatus.ISSUES_FOUND, RuleStatus.ERROR}


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """How the evaluation of a rule stands, as its container says."""

    status: RuleStatus
    details: str = ""
    step: int | None = None
    reason: str = ""
    """The finding of a built-in rule of smlocal, in a sentence."""


def read_result(folder: str) -> Evaluation | None:
    """The status document in a folder; None if there is none, or it is not one.

    The container may be a user's program, so nothing of it is trusted.
    """
    try:
        descriptor = os.open(f"{folder}/{_STATUS_FILE}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        document = json.loads(os.read(descriptor, _MOST_STATUS_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    finally:
        os.close(descriptor)
    return _result(document) if isinstance(document, Mapping) else None


def sign_of_progress(folder: str) -> tuple[int, ...]:
    """Something that changes each time the container writes its status; empty before it does."""
    try:
        found = os.lstat(f"{folder}/{_STATUS_FILE}")
    except OSError:
        return ()
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _result(document: Mapping[str, Any]) -> Evaluation | None:
    status, step = document.get("Status"), document.get("Step")
    if not isinstance(status, str) or status not in _SAID:
        return None
    return Evaluation(
        status=RuleStatus(status),
        details=str(document.get("StatusDetails") or ""),
        step=step if isinstance(step, int) and not isinstance(step, bool) else None,
        reason=str(document.get("Reason") or ""),
    )

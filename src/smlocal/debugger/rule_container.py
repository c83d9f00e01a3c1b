"""The container that evaluates one rule: what it sees and what it may do."""

import json
import os

from smlocal.contract.limits import Limits
from smlocal.debugger.action_endpoint import (
    FOLDER_IN_CONTAINER,
    SOCKET_IN_CONTAINER,
    acts,
    client_environment,
    endpoint_folder,
)
from smlocal.debugger.image import evaluator_tag
from smlocal.engine.interface import JOB_LABEL, RULE_LABEL, RUN_LABEL, ContainerSpec, Mount
from smlocal.planning.model import JobPlan
from smlocal.planning.rules import RulePlan

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
    """What the rule writes to its LocalPath."""
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
        mounts.append(Mount(source=endpoint_folder(plan), target=FOLDER_IN_CONTAINER, read_only=True))
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
            **(client_environment(number, plan.region) if acts(rule) else {}),
        },
        hostname="",
        user=_user(plan),
        mounts=tuple(mounts),
        network="none",
        limits=Limits(memory=MEMORY, cpus=1.0, processes=_PROCESSES),
        behind_others=True,
    )


def _user(plan: JobPlan) -> str:
    if plan.engine.rootless:
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

"""Hints for a failed processing job: a missing path below /opt/ml/processing, or a missing module."""

import os
import re
from typing import Final

from smlocal.jobs.decide.attempt_outcome import Symptoms, Trouble
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.shared_hints import MISSING, last_lines, listed, missing_module, other_file
from smlocal.terms.checkpoints import within

_BELOW: Final = re.compile(re.escape(facts.PROCESSING) + r"/[^\s'\":,;)\]]{1,500}")
_SHOWN: Final = 5
"""Inputs."""


def hint(plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:
    """The one that explains most; None if nothing is known."""
    if symptoms.trouble not in {Trouble.FAILED, Trouble.NOT_STARTED}:
        return None
    lines = [line for _, line in last_lines(symptoms.log.splitlines())]
    for line in lines:
        for path in _BELOW.findall(line) if MISSING.search(line) else ():
            found = _not_there(plan, host, path.rstrip("/."))
            if found:
                return found
    return missing_module(plan, host, symptoms, lines) if symptoms.trouble is Trouble.FAILED else None


def _not_there(plan: JobPlan, host: HostPlan, path: str) -> str:
    """Why a path is missing in the container, from the request."""
    inputs = {tree.name: tree.target for tree in host.inputs.trees} | {
        each.name: each.target for each in host.inputs.pipes
    }
    for tree in host.inputs.trees:
        if within(path, tree.target):
            return other_file(tree, f"input {tree.name} at {tree.target}", path[len(tree.target) :].strip("/"), "log")
    if any(within(path, each) for each in (*inputs.values(), *(each.local_path for each in plan.mirrored.collectors))):
        return ""
    places = [f"{name} at {target}" for name, target in inputs.items()][:_SHOWN]
    has = f"The job has the input{'s' * (len(inputs) > 1)} {listed(places)}" if places else "The job has no inputs"
    return f"The log names {path}, but no input is at {os.path.dirname(path)}. {has}: see ProcessingInputs."

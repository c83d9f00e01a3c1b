"""Takes one member out of effect, so that a test can be seen to need it.

With this folder on PYTHONPATH, every Python that starts imports this module first: each `smlocal` that a test runs. The
test's own process, which has been started already, imports it by its name (forked.py). Whatever request they read then
lacks the member WITHOUT_MEMBER, or says something else there where a request must say something. WITHOUT_REPORT is a
file that is told what became of it.
"""

import copy
import os
from collections.abc import Callable, Iterator
from typing import Any

MEMBER = os.environ.get("WITHOUT_MEMBER", "")
_ELSEWHERE = os.environ.get("WITHOUT_ELSEWHERE", "")
"""A folder with a file that no test has."""

Request = dict[str, Any]
Holder = tuple[dict[str, Any], str]

_INSTEAD: dict[str, Callable[[int], Any]] = {
    "AlgorithmSpecification.TrainingImage": lambda _: os.environ["WITHOUT_IMAGE"],
    "AlgorithmSpecification.TrainingInputMode": lambda _: "File",
    "AlgorithmSpecification.MetricDefinitions[].Name": lambda number: f"metric-{number}",
    "AlgorithmSpecification.MetricDefinitions[].Regex": lambda _: "(unheard-of)",
    "InputDataConfig[].ChannelName": lambda number: f"channel-{number}",
    "InputDataConfig[].DataSource.S3DataSource.S3DataType": lambda _: "S3Prefix",
    "InputDataConfig[].DataSource.S3DataSource.S3Uri": lambda _: f"{_ELSEWHERE}/",
    "InputDataConfig[].DataSource.S3DataSource.AttributeNames[]": lambda _: ["unheard-of"],
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemId": lambda _: "fs-0badf00d",
    "InputDataConfig[].DataSource.FileSystemDataSource.FileSystemAccessMode": lambda _: "rw",
    "InputDataConfig[].DataSource.FileSystemDataSource.DirectoryPath": lambda _: "/",
    "OutputDataConfig.S3OutputPath": lambda _: f"{_ELSEWHERE}/out",
    "ResourceConfig.InstanceType": lambda _: "ml.m5.large",
    "ResourceConfig.InstanceCount": lambda _: 1,
    "ResourceConfig.InstanceGroups[].InstanceType": lambda _: "ml.m5.large",
    "ResourceConfig.InstanceGroups[].InstanceCount": lambda _: 1,
    "ResourceConfig.InstanceGroups[].InstanceGroupName": lambda number: f"group-{number}",
    "ResourceConfig.InstancePreferences[].InstanceType": lambda number: ("ml.p5.48xlarge", "ml.m5.xlarge")[number],
    "ResourceConfig.InstancePreferences[].InstanceCount": lambda _: 1,
    "StoppingCondition.MaxWaitTimeInSeconds": lambda _: 86_400,
    "DebugRuleConfigurations[].RuleConfigurationName": lambda number: f"rule-{number}",
    "DebugRuleConfigurations[].RuleEvaluatorImage": lambda _: "unheard-of",
    "CheckpointConfig.S3Uri": lambda _: f"{_ELSEWHERE}/checkpoints",
}
"""For members that a request cannot lack: a replacement in the first, second, … place."""
_TOO = {"EnableManagedSpotTraining": ("StoppingCondition.MaxWaitTimeInSeconds",)}
"""Members that no request may have without this one."""


def holders(request: Any, member: str) -> Iterator[Holder]:
    """Every place in a request where the member stands."""
    name, _, rest = member.partition(".")
    key = name.removesuffix("[]")
    if not isinstance(request, dict) or key not in request:
        return
    if not rest:
        yield request, key
        return
    for inner in request[key] if name.endswith("[]") else (request[key],):
        yield from holders(inner, rest)


def variants(request: Request) -> Iterator[Request]:
    """The request without the member, first with as little else missing as may be."""
    if MEMBER in _INSTEAD:
        changed = copy.deepcopy(request)
        for number, (holder, key) in enumerate(holders(changed, MEMBER)):
            holder[key] = _INSTEAD[MEMBER](number)
        yield changed
        return
    # Some structures are nothing without this member, and go with it; but no list, which holds whole things.
    part = MEMBER
    while part:
        changed = copy.deepcopy(request)
        for member in (part, *_TOO.get(MEMBER, ())):
            for holder, key in list(holders(changed, member)):
                del holder[key]
        yield changed
        part = part.rpartition(".")[0]
        if part.endswith("[]"):
            return


def report(word: str) -> None:
    with open(os.environ["WITHOUT_REPORT"], "a", encoding="utf-8") as file:
        file.write(f"{word}\n")


def take_out_of_effect() -> None:
    from smlocal.api import overrides
    from smlocal.errors import SmlocalError
    from smlocal.sagemaker.jobfile import job_file

    read, apply = job_file.TrainingReading.read, overrides.apply_overrides

    def read_without(self: Any, document: Any, *, strict: bool, local_allowed: bool = True) -> Any:
        del local_allowed
        # A request that is refused as it stands is not made better here.
        whole = read(self, document, strict=strict)
        if not any(holders(document.data, MEMBER)):
            return whole
        for request in variants(document.data):
            less = copy.copy(document)
            less.data = request
            try:
                job = read(self, less, strict=strict)
            except SmlocalError:
                continue
            report("taken out")
            return job
        report("no valid request is without it")
        return whole

    def apply_without(document: Any, given: Any) -> None:
        apply(document, given)
        if document.data.pop(MEMBER, None) is not None:
            report("taken out")

    job_file.TrainingReading.read = read_without  # type: ignore[method-assign]  # on purpose
    if MEMBER == "TrainingJobName":  # which the command looks at before it reads the request
        overrides.apply_overrides = apply_without


if MEMBER:
    take_out_of_effect()

"""Jobs of `debugger_training.py`, for the benchmarks of the debugger."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workplace import BIN, ROOT, Workplace, image

_IMAGE = ROOT / "tests" / "kit" / "images" / "debugger"
_EVALUATOR = ROOT / "src" / "smlocal" / "debugger" / "evaluator_image"
_RULES = "895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rules:latest"
_SCRIPTS = Path(__file__).parent


def training_image(place: Workplace) -> str:
    """The image of the jobs. The one that evaluates rules is built too."""
    build: list[str | Path] = [BIN / "smlocal", "rules", "build", "--base", image(_EVALUATOR), "--quiet"]
    subprocess.run(build, env=place.environment, check=True, stdout=subprocess.DEVNULL)
    return image(_IMAGE)


def collections(**intervals: int) -> dict[str, Any]:
    """The hook's configuration: save each of these collections at every so many steps."""
    entries = [
        {
            "CollectionName": name,
            "CollectionParameters": {"save_interval": str(interval)}
            | ({"include_regex": ".*"} if name == "everything" else {}),
        }
        for name, interval in intervals.items()
    ]
    return {"CollectionConfigurations": entries}


def job_file(
    place: Workplace,
    name: str,
    tag: str,
    *arguments: int,
    hook: Mapping[str, Any] | None,
    rules: Sequence[str] = (),
    **local: Any,
) -> Path:
    """`arguments`: those of the script."""
    request: dict[str, Any] = {
        "TrainingJobName": name,
        "AlgorithmSpecification": {
            "TrainingImage": tag,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["python3", "/opt/ml/code/debugger_training.py"],
            "ContainerArguments": [str(each) for each in arguments],
        },
        "OutputDataConfig": {"S3OutputPath": str(place.output)},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        "Local": {"Code": str(_SCRIPTS), **local},
    }
    if hook is not None:
        request["DebugHookConfig"] = {"S3OutputPath": str(place.folder / "debug"), **hook}
    request["DebugRuleConfigurations"] = [
        {"RuleConfigurationName": rule, "RuleEvaluatorImage": _RULES, "RuleParameters": {"rule_to_invoke": rule}}
        for rule in rules
    ]
    path = place.folder / f"{name}.json"
    path.write_text(json.dumps(request))
    return path


def log(place: Workplace, name: str) -> str:
    return (place.folder / "home" / "jobs" / name / "logs" / "algo-1.log").read_text()


def must_have(place: Workplace, name: str, statuses: set[str]) -> None:
    """The benchmark is of no use if a rule ended otherwise."""
    said = subprocess.run(
        [BIN / "smlocal", "describe", name, "--json"], env=place.environment, check=True, capture_output=True, text=True
    )
    found = json.loads(said.stdout).get("DebugRuleEvaluationStatuses", ())
    wrong = [entry for entry in found if entry["RuleEvaluationStatus"] not in statuses]
    if wrong:
        sys.exit(f"{name}: {wrong}")

"""Whatever stands in a plan, the script of `smlocal plan --script` runs only its own commands.

Every text of a plan is replaced by one that tries to run `canary` from every place in which it may stand.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.training.script import ScriptSecrets, docker_line, shell_script
from smlocal.terms.listing import Listing

Planner = Callable[..., JobPlan]
PAYLOADS = {
    "lines": "x\ncanary {0}\r\ncanary {0}\n#",
    "quotes": "'; canary {0}; '\"; canary {0}; \"",
    "substitutions": "$(canary {0})`canary {0}`${{x:-$(canary {0})}}",
    "everything": "x' \"\n canary {0}\n$(canary {0})`canary {0}`\\;canary {0}&canary {0}|canary {0}>/dev/null\n) }}",
    "option": "--canary={0}",
    "marks": '\ue000x}}"; canary {0}; "${{x\ue001',
}
NOT_OF_A_USER = {
    "JobPlan.platform": "the name of a module",
    "EngineFacts.product": "one of two",
    "TreePlan.mode": "one of three",
    "TreePlan.staging": "one of a few",
    "OutputPlan.compression": "one of two",
    "CollectorPlan.end_marker": "a constant",
    "CollectorPlan.member": "a member of the request",
    "CheckpointPlan.member": "a member of the request",
    "HostFacts.name": "algo-1 and so on",
    "HostPlan.engine": "an address that is looked up",
    "Host.name": "algo-1 and so on",
    "ContainerFolders": "constants",
    "NetworkPlan.manager": "an address that is looked up",
}
KEPT_KEYS = {"NetworkPlan.addresses", "HostPlan.files"}
"""Names of hosts and paths in the container."""
STUB = """#!/bin/sh
case "$0 $1" in
*/canary*) echo "$@" >>"$CANARIES" ;;
*/docker\\ inspect) echo "2026-11-20 algo-1 0" ;;
esac
exit 0
"""


def hostile(value: Any, payload: str, where: str = "") -> Any:  # noqa: PLR0911 - one for each kind of value
    """The same with every text replaced."""
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value).__name__
        if kind in NOT_OF_A_USER:
            return value
        changed = {
            each.name: hostile(getattr(value, each.name), payload, f"{kind}.{each.name}")
            for each in fields(value)
            if each.init
        }
        return replace(value, **changed)
    if where in NOT_OF_A_USER:
        return value
    if isinstance(value, str) and type(value) is str:
        # A path stays one: a relative path would be another place.
        return f"{value}/{payload.format(where)}" if value.startswith("/") else payload.format(where)
    if isinstance(value, bytes):
        return _document(value, payload.format(where))
    if isinstance(value, Mapping):
        kept = where in KEPT_KEYS
        keys = {key: key if kept or not isinstance(key, str) else f"K{payload.format(where)}" for key in value}
        return {keys[key]: hostile(each, payload, where) for key, each in value.items()}
    return tuple(hostile(each, payload, where) for each in value) if isinstance(value, tuple) else value


def _document(content: bytes, text: str) -> bytes:
    try:
        document = json.loads(content)
    except ValueError:
        return text.encode()
    if isinstance(document, dict):
        document = {**document, "password": text, "plain": text, text: "plain"}
    return json.dumps(document, ensure_ascii=False).encode()


@pytest.fixture
def plans(plan: Planner, listing: Listing, facts: Facts, tmp_path: Path) -> Mapping[str, JobPlan]:
    """Together they have every part that a script can have."""
    output = f"{tmp_path}/results"
    local = replace(listing, root=f"{tmp_path}/data")
    remote = replace(listing, root="", sizes=(5, 7))
    some = replace(listing, root=f"{tmp_path}/data", whole_tree=False)
    algorithm = {"TrainingImage": "image", "TrainingInputMode": "File"}
    command = {"ContainerEntrypoint": ["run", "--api-key", "secret"], "ContainerArguments": ["a", "--token=secret"]}
    engine = replace(facts.engines.first, named=True)
    return {
        "local": plan(listings={"train": local}, output=output),
        "remote": plan({"Environment": {"A": "b", "API_TOKEN": "hush"}}, listings={"train": remote}, output=output),
        "some": plan(listings={"train": some}, output=output, engine=engine),
        "hosts": plan(
            {
                "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2},
                "EnableNetworkIsolation": True,
                "AlgorithmSpecification": {**algorithm, **command},
                "HyperParameters": {"epochs": "1", "password": "hush"},
            },
            listings={"train": local},
            output=output,
        ),
        "checkpoints": plan(
            {
                "CheckpointConfig": {"S3Uri": "s3://bucket/checkpoints", "LocalPath": "/opt/ml/checkpoints"},
                "TensorBoardOutputConfig": {"S3OutputPath": "s3://bucket/board", "LocalPath": "/opt/ml/board"},
                "OutputDataConfig": {"S3OutputPath": "s3://bucket/out", "CompressionType": "NONE"},
            },
            {"Publish": True},
            listings={"train": local},
            checkpoints=replace(remote, bucket_uri="s3://bucket/", prefix="checkpoints/", key_base="checkpoints/"),
            output=output,
        ),
    }


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str], list[str]]:
    """Runs a script to its end, whatever fails; returns the arguments of `canary`."""
    programs, canaries = tmp_path / "bin", tmp_path / "canaries"
    programs.mkdir()
    for name in ("canary", "docker", "aws", "sleep", "mv"):
        (programs / name).write_text(STUB)
        (programs / name).chmod(0o755)
    folder = tmp_path / "work"
    folder.mkdir()
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(folder), "CANARIES": str(canaries)}
    bash = shutil.which("bash")
    assert bash is not None

    def run_script(script: str) -> list[str]:
        checked = subprocess.run([bash, "-n"], input=script, text=True, capture_output=True, check=False, timeout=60)
        assert checked.returncode == 0, checked.stderr
        # Missing files do not end it, so that all lines are run.
        script = script.replace("\nset -euo pipefail\n", "\nset +e\n").replace("; exit 3\n", "\n")
        canaries.unlink(missing_ok=True)
        secrets = dict.fromkeys(("API_TOKEN", "ARGUMENT_2", "ARGUMENT_4", "HYPERPARAMETER_PASSWORD"), "hush")
        subprocess.run(
            [bash], input=script, text=True, capture_output=True, check=False, timeout=60, cwd=folder,
            env={**environment, **secrets},
        )  # fmt: skip
        return canaries.read_text().splitlines() if canaries.exists() else []

    return run_script


def test_the_canary_is_heard(run: Callable[[str], list[str]]) -> None:
    assert run("set -euo pipefail\necho \"$(canary a)\"\n'canary' b\n") == ["a", "b"]


@pytest.mark.slow(1)
@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
@pytest.mark.parametrize("name", ["local", "remote", "some", "hosts", "checkpoints"])
def test_only_the_script_itself_is_run(
    name: str, payload: str, plans: Mapping[str, JobPlan], run: Callable[[str], list[str]]
) -> None:
    made = plans[name]
    assert run(shell_script(made)) == []
    script = shell_script(hostile(made, payload))
    assert "canary" in script
    assert run(script) == []
    for line in script.splitlines():
        assert not (line.startswith("#") and "canary" in line), "a value of a user stands in a comment"


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_only_docker_is_run_by_hand(
    payload: str, plans: Mapping[str, JobPlan], run: Callable[[str], list[str]], tmp_path: Path
) -> None:
    line = docker_line(hostile(plans["local"], payload), f"{tmp_path}/by hand")
    if line is not None:  # values of several lines need the script
        assert run(" ".join(line.words) + "\n") == []
    assert docker_line(plans["local"], f"{tmp_path}/by hand") is not None


def test_marks_of_secrets_in_a_value_are_only_text() -> None:
    secrets = ScriptSecrets(())
    content = json.dumps({"a": '\ue000x}"; canary; "${x\ue001', "password": "hush"}, ensure_ascii=False).encode()
    word = secrets.file("/opt/ml/input/config/hyperparameters.json", content)
    assert '${x}"' not in word
    assert word.count('"$(json "$') == 1

"""The steps of action.yml, run as a runner of GitHub runs them, with inputs that a shell would obey."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

ROOT = Path(__file__).parents[3]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["id"]: step for step in ACTION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{ (inputs|steps)\.([\w-]+)(?:\.outputs\.([\w-]+))? \}\}")
HOSTILE = """ '; touch pwned #" `touch pwned` $(touch pwned) ${IFS} \\ & touch pwned\n::set-env name=PWNED::1\n*"""
Outputs = dict[str, str]


@dataclass(kw_only=True)
class Runner:
    """What GitHub's runner does with a composite action."""

    workspace: Path
    temporary: Path
    environment: Mapping[str, str]
    outputs: dict[str, Outputs] = field(default_factory=dict)
    log: str = ""

    def use(self, steps: tuple[str, ...] = ("smlocal",), /, **inputs: str) -> int:
        """Run these steps with these inputs; the exit code of the last."""
        given = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        code = 0
        for step in steps:
            code = self._step(step, given)
            if code:
                break
        return code

    def _step(self, name: str, inputs: Mapping[str, str]) -> int:
        def value(found: re.Match[str]) -> str:
            return inputs[found[2]] if found[1] == "inputs" else self.outputs[found[2]][found[3]]

        step = STEPS[name]
        script, output = self.temporary / f"{name}.sh", self.temporary / f"{name}.output"
        script.write_text(step["run"])
        output.write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
            cwd=self.workspace / EXPRESSION.sub(value, step.get("working-directory", ".")),
            env={
                **self.environment,
                **{key: EXPRESSION.sub(value, text) for key, text in step["env"].items()},
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_PATH": str(self.temporary / "path"),
                "GITHUB_STEP_SUMMARY": str(self.temporary / "summary.md"),
                "GITHUB_WORKSPACE": str(self.workspace),
                "RUNNER_TEMP": str(self.temporary),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
            check=False,
            timeout=200,
        )
        self.log = done.stdout
        self.outputs[name] = read_outputs(output.read_text())
        return done.returncode


def read_outputs(text: str) -> Outputs:
    """As the runner reads them: `name=value`, or `name<<end` and lines up to one that is `end`."""
    outputs = {}
    lines = iter(text.split("\n"))
    for line in lines:
        if (heredoc := line.partition("<<"))[1] and "=" not in heredoc[0]:
            value = []
            while (each := next(lines)) != heredoc[2]:
                value.append(each)
            outputs[heredoc[0]] = "\n".join(value)
        elif line:
            name, equals, rest = line.partition("=")
            assert equals, line
            outputs[name] = rest
    return outputs


@pytest.fixture
def runner(tmp_path: Path, smlocal_home: Path) -> Runner:
    """One on which the action is installed: as the Python of these tests."""
    for folder in ("workspace", "temporary"):
        (tmp_path / folder).mkdir()
    outside = ("SMLOCAL_", "AWS_", "GITHUB_", "INPUT_", "PYTHON")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(outside)}
    return Runner(
        workspace=tmp_path / "workspace",
        temporary=tmp_path / "temporary",
        environment={**environment, "SMLOCAL_HOME": str(smlocal_home)},
        outputs={"install": {"python": sys.executable}},
    )


@pytest.fixture
def job_file(runner: Runner, image: Callable[[str], str]) -> Callable[[str], str]:
    """Makes a job file whose container runs a script."""

    def make(script: str) -> str:
        request = {
            "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": script},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        }
        (runner.workspace / "job.json").write_text(json.dumps(request))
        return "job.json"

    return make


def test_no_script_has_an_expression_in_it_and_every_input_reaches_one() -> None:
    scripts = [step["run"] for step in STEPS.values()]
    assert not any("${{" in script for script in scripts)
    used = {
        found[2] for step in STEPS.values() for found in EXPRESSION.finditer(json.dumps(step)) if found[1] == "inputs"
    }
    assert used == set(ACTION["inputs"])
    read = (ROOT / "scripts" / "github_action.py").read_text()
    for step in STEPS.values():
        for variable in step["env"]:
            name = variable.removeprefix("INPUT_").lower().replace("_", "-")
            assert f"${variable}" in step["run"] or f'"{name}"' in read


@pytest.mark.parametrize("hosts", [1, 2])
def test_a_job_that_completes(runner: Runner, job_file: Callable[[str], str], hosts: int) -> None:
    job = job_file("echo done | tee /opt/ml/model/m")
    code = runner.use(job=job, args=f"--name action-{hosts} --instance-count {hosts}", junit="report.xml")
    assert code == 0, runner.log
    report = str(runner.workspace / "report.xml")
    assert runner.outputs["smlocal"] == {
        "status": "Completed",
        "failure-reason": "",
        "job-name": f"action-{hosts}",
        "model": str(runner.workspace / "out" / f"action-{hosts}" / "output" / "model.tar.gz"),
        "report": report,
        "sarif": "",
    }
    assert ET.parse(report).getroot().get("failures") == "0"
    assert f"<td>action-{hosts}</td><td>Completed</td>" in (runner.temporary / "summary.md").read_text()


def test_the_reason_of_a_failed_job_comes_out_as_it_is(runner: Runner, job_file: Callable[[str], str]) -> None:
    reason = "first\nstatus<<end\nCompleted\nend\nstatus=Completed\n::error::x %0A"
    job = job_file(f"printf %s '{reason}' >/opt/ml/output/failure; exit 3")
    assert runner.use(job=job, args="--name action-fails") == 1
    outputs = runner.outputs["smlocal"]
    assert outputs["status"] == "Failed"
    assert outputs["failure-reason"] == f"AlgorithmError: {reason}, exit code: 3"
    assert Path(outputs["report"]).is_relative_to(runner.temporary)
    assert "::error file=job.json,line=1,title=job action-fails%3A Failed::AlgorithmError: first%0A" in runner.log


@pytest.mark.parametrize(("code", "status"), [(0, "Completed"), (3, "Failed")])
def test_a_processing_job(runner: Runner, image: Callable[[str], str], code: int, status: str) -> None:
    request = {
        "AppSpecification": {"ImageUri": image("sh"), "ContainerEntrypoint": ["sh", "-c", f"exit {code}"]},
        "ProcessingResources": {
            "ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}
        },
    }
    (runner.workspace / "job.json").write_text(json.dumps(request))
    assert runner.use(job="job.json", args=f"--name action-processing-{code}") == min(code, 1), runner.log
    outputs = runner.outputs["smlocal"]
    assert (outputs["status"], outputs["job-name"]) == (status, f"action-processing-{code}")
    assert outputs["failure-reason"].startswith("AlgorithmError: " if code else "")
    assert outputs["model"] == ""
    assert ET.parse(outputs["report"]).getroot().get("failures") == str(min(code, 1))


def test_a_tuning_job(runner: Runner, job_file: Callable[[str], str]) -> None:
    definition = json.loads((runner.workspace / job_file("echo loss=1")).read_text())
    definition["AlgorithmSpecification"]["MetricDefinitions"] = [{"Name": "loss", "Regex": "loss=(.*)"}]
    definition["StoppingCondition"] = {"MaxRuntimeInSeconds": 240}
    request = {
        "HyperParameterTuningJobConfig": {
            "Strategy": "Grid",
            "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
            "ResourceLimits": {"MaxParallelTrainingJobs": 1},
            "ParameterRanges": {"CategoricalParameterRanges": [{"Name": "n", "Values": ["1"]}]},
        },
        "TrainingJobDefinition": definition,
    }
    (runner.workspace / "search.json").write_text(json.dumps(request))
    assert runner.use(job="search.json", args="--name action-tuning") == 0, runner.log
    outputs = runner.outputs["smlocal"]
    assert (outputs["status"], outputs["job-name"], outputs["model"]) == ("Completed", "action-tuning", "")
    assert ET.parse(outputs["report"]).getroot().get("failures") == "0"


def test_hostile_arguments_reach_the_container_as_they_are(runner: Runner, job_file: Callable[[str], str]) -> None:
    job = job_file("cat /opt/ml/input/config/hyperparameters.json >/opt/ml/model/h; exit 3")
    text = HOSTILE.replace("\n", " ")  # the service takes no hyperparameter with a line break
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    runner.use(job=job, args=f'--name action-hostile --hyperparameter "text={quoted}" --output out')
    log = runner.log
    assert runner.outputs["smlocal"]["status"] == "Failed", log
    model = runner.workspace / "out" / "action-hostile" / "output" / "model.tar.gz"
    written = subprocess.run(["tar", "-xzOf", model, "h"], capture_output=True, check=True).stdout
    assert json.loads(written) == {"text": text}
    assert not list(runner.workspace.rglob("pwned"))


@pytest.mark.parametrize(
    "name",
    [
        *("job", "image", "dockerfile", "fail-on", "junit", "sarif", "command", "args"),
        *("train-and-serve", "body", "content-type"),
    ],
)
@pytest.mark.parametrize("value", [HOSTILE, "--help", "-h", "$(touch pwned)", "`touch pwned`;touch pwned", '"'])
def test_a_hostile_input_is_refused_and_does_nothing(name: str, value: str, runner: Runner) -> None:
    inputs = {"command": "check", "image": "my-image", name: value, "args": value if name == "args" else ""}
    if name == "job":
        inputs["image"] = ""
    if name == "dockerfile":
        inputs["sarif"] = "out.sarif"
    runner.environment = {**runner.environment, "DOCKER_HOST": "unix:///nowhere.sock"}
    code = runner.use(**inputs)
    if name == "args" and value in {"--help", "-h"}:
        assert code == 0  # an option of smlocal's, as every other in args
    else:
        assert code in {2, 3}, runner.log
        assert "error" in runner.log
    assert not list(runner.workspace.rglob("pwned"))
    assert runner.outputs["smlocal"]["status"] == "Error"
    assert set(runner.outputs["smlocal"]) == set(ACTION["outputs"])


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({}, "inputs job and image are both empty"),
        ({"command": "validate", "job": "a", "image": "b"}, "takes a job file, and no image"),
        ({"command": "validate", "image": "b"}, "takes a job file, and no image"),
        ({"command": "validate", "job": "a", "fail-on": "info"}, "The input fail-on is of the command check"),
        ({"image": "b", "sarif": "c"}, "The input sarif is of the command check"),
        ({"image": "b", "command": "rm"}, "one of: run, check, validate"),
        ({"image": "b", "train-and-serve": "true"}, "The input train-and-serve is of the command check"),
        ({"image": "b", "command": "check", "train-and-serve": "yes"}, "The input train-and-serve is true or false"),
    ],
)
def test_inputs_that_do_not_go_together(inputs: dict[str, str], said: str, runner: Runner) -> None:
    assert runner.use(**inputs) == 2
    assert said in runner.log
    assert said in runner.outputs["smlocal"]["failure-reason"]


def test_a_check_that_finds_something(runner: Runner, image: Callable[[str], str]) -> None:
    (runner.workspace / "Dockerfile").write_text("FROM busybox\n")
    # The folder of an earlier run. An output that is not written now is missing.
    (runner.workspace / "old.sarif").write_text("{}")
    given = {"command": "check", "image": image("no-train"), "dockerfile": "Dockerfile", "args": "--static"}
    assert runner.use(**given, sarif="out.sarif") == 1
    outputs = runner.outputs["smlocal"]
    assert outputs["status"] == "Failed"
    assert "train-missing: " in outputs["failure-reason"]
    assert outputs["sarif"] == str(runner.workspace / "out.sarif")
    assert json.loads(Path(outputs["sarif"]).read_text())["runs"][0]["results"]
    assert "::error file=Dockerfile,line=1,title=train-missing::" in runner.log
    assert runner.use(**{**given, "image": "not-there:1"}, sarif="old.sarif") == 3
    assert runner.outputs["smlocal"]["sarif"] == ""


@pytest.mark.slow(3)
def test_train_serve_ask_once(runner: Runner, job_file: Callable[[str], str], image: Callable[[str], str]) -> None:
    (runner.workspace / "request.csv").write_text("1,2")
    given = {"command": "check", "job": job_file("true"), "image": image("train-serve"), "train-and-serve": "true"}
    code = runner.use(**given, body="request.csv", args="--only trained-model-fails")
    assert code == 0, runner.log
    assert "asked 1,2 (text/csv), it answered 200: 3,6" in runner.log
    assert runner.outputs["smlocal"]["status"] == "Passed"
    code = runner.use(**given, body="request.csv", content_type="text/plain", args="--only trained-model-fails")
    assert code == 1
    said = "trained-model-fails: asked 1,2 (text/plain) of its own model, the image answered 415: text/csv only"
    assert runner.outputs["smlocal"]["failure-reason"].startswith(said)


def test_a_job_file_is_validated(runner: Runner, job_file: Callable[[str], str]) -> None:
    job = job_file("exit 1")
    assert runner.use(command="validate", job=job) == 0, runner.log
    assert (runner.outputs["smlocal"]["status"], runner.outputs["smlocal"]["failure-reason"]) == ("Passed", "")
    path = runner.workspace / job
    path.write_text(path.read_text().replace("ml.m5.large", "ml.m5.big"))
    assert runner.use(command="validate", job=job) == 2
    outputs = runner.outputs["smlocal"]
    assert outputs["status"] == "Failed"
    assert outputs["failure-reason"].startswith("job.json: ")
    assert set(outputs) == set(ACTION["outputs"])
    assert ET.parse(outputs["report"]).getroot().get("failures") == "1"


def test_a_job_file_is_checked_with_another_image(
    runner: Runner, job_file: Callable[[str], str], image: Callable[[str], str]
) -> None:
    path = runner.workspace / job_file("exit 0")
    path.write_text(path.read_text().replace(image("sh"), "smlocal-not-this-one"))
    assert runner.use(command="check", job=path.name, image=image("sh"), args="--static") == 0, runner.log
    assert runner.outputs["smlocal"]["status"] == "Passed"


def test_a_check_that_passes(runner: Runner, image: Callable[[str], str]) -> None:
    assert runner.use(command="check", image=image("sh"), args="--static --only train-missing") == 0
    outputs = runner.outputs["smlocal"]
    assert (outputs["status"], outputs["failure-reason"], outputs["sarif"]) == ("Passed", "", "")


def test_what_lies_in_the_checkout_is_not_imported(runner: Runner, image: Callable[[str], str]) -> None:
    for name in ("json.py", "smlocal.py", "click.py"):
        (runner.workspace / name).write_text("raise SystemExit('imported')")
    assert runner.use(command="check", image=image("sh"), args="--static --only train-missing") == 0
    assert "imported" not in runner.log


@pytest.mark.slow(2)
def test_another_folder_to_work_in(runner: Runner, job_file: Callable[[str], str]) -> None:
    job_file("true")
    (runner.workspace / "sub folder").mkdir()
    (runner.workspace / "job.json").rename(runner.workspace / "sub folder" / "job.json")
    code = runner.use(job="job.json", args="--name action-sub", junit="r.xml", working_directory="sub folder")
    assert code == 0, runner.log
    assert (runner.workspace / "sub folder" / "r.xml").exists()


def test_a_python_that_is_too_old_or_not_there_is_said(runner: Runner, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    for python in (str(old), "no-such-python; touch pwned"):
        assert runner.use(("install", "smlocal"), python=python) == 3
        assert "Python 3.11 or newer is needed" in runner.log
    assert not list(runner.workspace.rglob("pwned"))


@pytest.mark.slow(20)
@pytest.mark.long
def test_it_installs_itself_once(runner: Runner, image: Callable[[str], str]) -> None:
    tried = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--retries", "0", "click"],
        cwd=runner.temporary,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if tried.returncode:
        pytest.skip(f"pip reaches no index: {tried.stderr.strip().splitlines()[-1]}")
    steps = ("install", "smlocal")
    inputs = {"command": "check", "image": image("sh"), "args": "--static --only train-missing"}
    assert runner.use(steps, **inputs) == 0, runner.log
    python = Path(runner.outputs["install"]["python"])
    assert python.is_relative_to(runner.temporary)
    made = python.parent.stat().st_mtime_ns
    assert runner.use(steps, **inputs) == 0
    assert python.parent.stat().st_mtime_ns == made
    on_path = (runner.temporary / "path").read_text().split("\n")[0]
    assert os.listdir(on_path) == ["smlocal"]
    said = subprocess.run([f"{on_path}/smlocal", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("smlocal ")

"""The screens of the most used commands, compared with those recorded in `screens/`.

    SMLOCAL_RECORD_SCREENS=1 pytest -n 0 tests/doors/cli/test_screens.py

records them again; look at the changes. The jobs run side by side, once for all tests of this file.
"""

import json
import os
import re
import shutil
import sqlite3
import string
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from tests.doors.cli.screens import comparable, marked_lines, without_marks
from tests.doors.cli.terminal import Terminal

RECORDED = Path(__file__).parent / "screens"
RECORD = bool(os.environ.get("SMLOCAL_RECORD_SCREENS"))
NO_COLOR, DUMB = {"NO_COLOR": "1"}, {"TERM": "dumb"}
OWN_COLOURS = re.compile(rb"(0|1|2|3[1-6]|1;3[1-6])?")
"""No black and no white, no background and no colour of a fixed value: readable on what the terminal has."""
SCRIPTS = {
    "complete": "for n in 3 2 1; do echo loss=0.$n; done; echo x >/opt/ml/model/m",
    "fail": "for n in $(seq 30); do echo line $n; done; echo no such column: age >/opt/ml/output/failure; exit 3",
    "hosts": "echo loss=0.1",
    "stop": "trap 'sleep 3; echo saved; exit 0' TERM; echo ready; while :; do sleep 0.1; done",
}
DATA = {"DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}}
KINDS = ("search", "lost", "processing", "transform", "server", "pipeline", "halted")
"""Jobs of other kinds: a search, one whose training jobs all fail, a pipeline, one of which a step fails, and so on."""
METRICS = [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]
_JOB = re.compile(r"\b(screen-[a-z]+)-[a-z]\b")
_LED = re.compile(r"\b(screen-[a-z]+-\d{3})-[0-9a-f]{8}\b")
"""The name of a job of a search."""


_EXECUTION = re.compile("(" + r"\n?".join("/execution/") + r")((?:\n?[a-z0-9]){12})")
"""In an ARN, which may be on two lines."""
_STEP = re.compile(r"\bpipelines-([a-z0-9]{1,12})(?:(-[A-Za-z]+-)([A-Za-z0-9]{1,10}))?")


def _without_chance(found: re.Match[str]) -> str:
    """The name of a step's job, also of one that is cut, without what is drawn at random."""
    execution, step, job = found.groups(default="")
    return f"pipelines-{'x' * len(execution)}{step}{'x' * len(job)}"


class Screens:
    """A folder with job files, and what commands showed there."""

    def __init__(self, folder: Path, images: Callable[[str], str]) -> None:
        self.folder = folder
        image, serving, transforming = map(images, ("sh", "serve", "transform"))
        self._hidden = (folder.name, *(each.rpartition(":")[2] for each in (image, serving, transforming)))
        self._write_kinds(image, serving, transforming)
        (folder / "data").mkdir()
        (folder / "data" / "a.csv").write_text("1,2\n")
        for kind, script in SCRIPTS.items():
            request = {
                "AlgorithmSpecification": {
                    "TrainingImage": image,
                    "TrainingInputMode": "File",
                    **({"MetricDefinitions": METRICS} if kind == "complete" else {}),
                },
                "InputDataConfig": [
                    {
                        "ChannelName": "train",
                        "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}},
                    }
                ],
                "Environment": {"SCRIPT": script},
                "OutputDataConfig": {"S3OutputPath": "./out"},
                "ResourceConfig": {
                    "InstanceType": "ml.m5.large",
                    "InstanceCount": 2 if kind == "hosts" else 1,
                    "VolumeSizeInGB": 10,
                },
            }
            (folder / f"{kind}.json").write_text(json.dumps(request))
        wrong = json.loads((folder / "complete.json").read_text()) | {"HyperParamters": {}, "TrainingJobName": "my_job"}
        (folder / "wrong.json").write_text(json.dumps(wrong, indent=2))
        described = json.loads((folder / "complete.json").read_text())
        described["AlgorithmSpecification"]["TrainingImage"] = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held:1"
        described["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] = "s3://bucket/data"
        described |= {
            "TrainingJobName": "held-tree",
            "TrainingJobArn": "arn:aws:sagemaker:eu-west-1:123456789012:training-job/held-tree",
            "TrainingJobStatus": "Failed",
            "FailureReason": "AlgorithmError: no such column: age, exit code: 3",
            "VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]},
            "NewestConfig": {"Level": 2},
            "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        }
        (folder / "described.json").write_text(json.dumps(described))
        self._write_files_of_kinds(image)
        self.terminals: dict[str, Terminal] = {}
        self.stopping: dict[str, list[str]] = {}
        self.piped: dict[str, list[str]] = {}

    def _write_files_of_kinds(self, image: str) -> None:
        """Of all but training jobs."""
        trained = json.loads((self.folder / "complete.json").read_text())
        config = {
            "Strategy": "Random",
            "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
            "ResourceLimits": {"MaxNumberOfTrainingJobs": 4, "MaxParallelTrainingJobs": 2},
            "ParameterRanges": {
                "CategoricalParameterRanges": [{"Name": "shape", "Values": ["round", "square", "oval", "flat"]}]
            },
        }
        data = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "../data"}}
        source = {"S3Uri": "../data", "LocalPath": "/opt/ml/processing/input"}
        target = {"S3Uri": "../out", "LocalPath": "/opt/ml/processing/output"}
        files = {
            "endpoint": {
                "PrimaryContainer": {"Image": image},
                "ProductionVariants": [
                    {"VariantName": name, "InstanceType": "local", "InitialInstanceCount": 1}
                    for name in ("blue", "green")
                ],
            },
            "processing": {
                "AppSpecification": {"ImageUri": image, "ContainerEntrypoint": ["sh", "-c", "true"]},
                "ProcessingInputs": [{"InputName": "data", "S3Input": source}],
                "ProcessingOutputConfig": {"Outputs": [{"OutputName": "out", "S3Output": target}]},
            },
            "transform": {
                "PrimaryContainer": {"Image": image},
                "TransformInput": {"DataSource": data, "ContentType": "text/csv", "SplitType": "Line"},
                "TransformOutput": {"S3OutputPath": "../out"},
            },
            "tuning": {
                "HyperParameterTuningJobConfig": config,
                "TrainingJobDefinition": {
                    "AlgorithmSpecification": trained["AlgorithmSpecification"],
                    "OutputDataConfig": trained["OutputDataConfig"],
                    "ResourceConfig": trained["ResourceConfig"],
                    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
                },
            },
        }
        (self.folder / "kinds").mkdir()
        for kind, request in files.items():
            (self.folder / "kinds" / f"{kind}.json").write_text(json.dumps(request))

    def _write_kinds(self, image: str, serving: str, transforming: str) -> None:
        resources = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10}
        written = {"OutputName": "rows", "S3Output": {"S3Uri": "./rows", "LocalPath": "/opt/ml/processing/rows"}}
        written["S3Output"] |= {"S3UploadMode": "EndOfJob"}  # type: ignore[operator]
        program = ["sh", "-c", "echo two rows; echo 1 >/opt/ml/processing/rows/a.csv"]
        documents: dict[str, dict[str, Any]] = {
            "processing": {
                "AppSpecification": {"ImageUri": image, "ContainerEntrypoint": program},
                "ProcessingResources": {"ClusterConfig": resources},
                "ProcessingOutputConfig": {"Outputs": [written]},
            },
            "transform": {
                "PrimaryContainer": {"Image": transforming},
                "TransformInput": {**DATA, "SplitType": "Line", "ContentType": "text/csv"},
                "TransformOutput": {"S3OutputPath": "./answers"},
            },
            "server": {"PrimaryContainer": {"Image": serving}, "Local": {"Serving": {"Key": True}}},
        }
        prepare = {
            "Name": "Prepare",
            "Type": "Processing",
            "CacheConfig": {"Enabled": True},
            "Arguments": documents["processing"],
        }
        train = {
            "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": resources,
            "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
            "HyperParameters": {"depth": {"Get": "Parameters.Depth"}},
            "Environment": {"SCRIPT": "echo trained"},
        }
        good = {"Type": "LessThan", "LeftValue": {"Get": "Parameters.Depth"}, "RightValue": "5"}
        for name, depth in (("pipeline", "3"), ("halted", "7")):
            documents[name] = {
                "Version": "2020-12-01",
                "Parameters": [{"Name": "Depth", "Type": "String", "DefaultValue": depth}],
                "Steps": [
                    prepare,
                    {
                        "Name": "Shallow",
                        "Type": "Condition",
                        "DependsOn": ["Prepare"],
                        "Arguments": {
                            "Conditions": [good],
                            "IfSteps": [{"Name": "Train", "Type": "Training", "Arguments": train}],
                            "ElseSteps": [
                                {"Name": "TooDeep", "Type": "Fail", "Arguments": {"ErrorMessage": "Depth is over 4"}}
                            ],
                        },
                    },
                ],
            }
        for name, script in (("search", "echo loss=0.1"), ("lost", "echo no age >/opt/ml/output/failure; exit 3")):
            documents[name] = {
                "HyperParameterTuningJobConfig": {
                    "Strategy": "Grid",
                    "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
                    "ResourceLimits": {"MaxParallelTrainingJobs": 1},
                    "ParameterRanges": {"CategoricalParameterRanges": [{"Name": "n", "Values": ["1", "2"]}]},
                },
                "TrainingJobDefinition": {
                    "AlgorithmSpecification": {
                        "TrainingImage": image,
                        "TrainingInputMode": "File",
                        "MetricDefinitions": METRICS,
                    },
                    "OutputDataConfig": {"S3OutputPath": "./out"},
                    "ResourceConfig": resources,
                    "StoppingCondition": {"MaxRuntimeInSeconds": 240},
                    "Environment": {"SCRIPT": script},
                },
            }
        for name, document in documents.items():
            (self.folder / f"{name}.json").write_text(json.dumps(document))

    def environment(self, changes: dict[str, str]) -> dict[str, str]:
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "DOCKER_HOST") if key in os.environ}
        home = str(self.folder / "home")
        return {
            **kept,
            "SMLOCAL_HOME": home,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SMLOCAL_PAGER": "",
            **changes,
        }

    def start(self, name: str, *words: str, columns: int, environment: dict[str, str] | None = None) -> Terminal:
        terminal = Terminal(columns=columns, rows=60)
        terminal.start(
            [sys.executable, "-m", "smlocal", *words],
            cwd=str(self.folder),
            environment=self.environment(environment or {}),
        )
        self.terminals[name] = terminal
        return terminal

    def show(self, name: str, *words: str, columns: int, environment: dict[str, str] | None = None) -> None:
        self.start(name, *words, columns=columns, environment=environment).end(seconds=120)

    def pipe(self, name: str, *words: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "smlocal", *words],
            cwd=self.folder,
            env=self.environment({}),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.piped[name] = ["# stdout", *done.stdout.splitlines(), "# stderr", *done.stderr.splitlines()]

    def shown(self, name: str) -> list[str]:
        """As it can be compared."""
        lines = self.piped[name] if name in self.piped else self.stopping.get(name) or self.marked(name)
        return self.comparable(lines)

    def marked(self, name: str) -> list[str]:
        return marked_lines(self.terminals[name])

    def comparable(self, lines: list[str]) -> list[str]:
        # The server of a transform job prints this before or after the first ping: it is chance.
        lines = [_LED.sub(r"\1-xxxxxxxx", line) for line in lines if line != "serving"]
        text = _EXECUTION.sub(lambda found: found[1] + re.sub("[a-z0-9]", "x", found[2]), "\n".join(lines))
        text = re.sub(r"(?<=result of )[a-z0-9]{12}", "x" * 12, text)
        lines = _STEP.sub(_without_chance, text).split("\n")
        return [_JOB.sub(r"\1-a", line) for line in comparable(lines, self._hidden)]

    def date_jobs(self) -> None:
        """As if all of them had ended two hours ago, one after another."""
        with sqlite3.connect(self.folder / "home" / "smlocal.db") as database:
            names = sorted(name for (name,) in database.execute("SELECT name FROM jobs"))
            for number, name in enumerate(names):
                database.execute(
                    "UPDATE jobs SET created = created - 7200 - ?, modified = modified - 7200 WHERE name = ?",
                    (100 * number, name),
                )
        database.close()


@pytest.fixture(scope="module")
def screens(image: Callable[[str], str]) -> Iterator[Screens]:
    # The same length always: where lines end depends on it.
    folder = Path(tempfile.mkdtemp(prefix="smlocal-screens-", dir="/tmp"))
    screens = Screens(folder, image)
    try:
        run_jobs(screens)
        screens.date_jobs()
        look(screens)
        yield screens
    finally:
        remove = [sys.executable, "-m", "smlocal", "rm", "--stop", "*"]
        subprocess.run(remove, cwd=folder, env=screens.environment({}), capture_output=True, timeout=120, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def run_jobs(screens: Screens) -> None:
    variants: list[tuple[str, str, int, dict[str, str]]] = [
        *((f"{kind}-{columns}", kind, columns, {}) for kind in SCRIPTS for columns in (80, 200)),
        ("complete-80-no-colour", "complete", 80, NO_COLOR),
        ("complete-80-dumb", "complete", 80, DUMB),
        ("fail-80-no-colour", "fail", 80, NO_COLOR),
    ]
    for kind in KINDS:
        words = ("deploy", f"{kind}.json") if kind == "server" else ("run", f"{kind}.json")
        screens.start(f"{kind}-80", *words, "--name", f"screen-{kind}", columns=80)
    for number, (name, kind, columns, environment) in enumerate(variants):
        job = f"screen-{kind}-{string.ascii_lowercase[number]}"
        screens.start(name, "run", f"{kind}.json", "--name", job, columns=columns, environment=environment)
    for columns in (80, 200):
        terminal = screens.terminals[f"stop-{columns}"]
        terminal.until(lambda terminal=terminal: "ready" in terminal.all_lines(), seconds=120)  # type: ignore[misc]
        terminal.type(b"\x03")
    for columns in (80, 200):
        terminal = screens.terminals[f"stop-{columns}"]
        terminal.until(lambda terminal=terminal: terminal.lines[-1].startswith("◌"))  # type: ignore[misc]
        screens.stopping[f"stopping-{columns}"] = marked_lines(terminal)
    for terminal in screens.terminals.values():
        terminal.end(seconds=120)
    for kind in ("complete", "fail", "hosts"):
        screens.pipe(f"{kind}-pipe", "run", f"{kind}.json", "--name", f"screen-{kind}-z")


OF_KINDS: dict[str, tuple[str, ...]] = {
    "endpoints": ("endpoints",),
    "logs-lost": ("logs", "screen-lost"),
    **{f"describe-{kind}": ("describe", f"screen-{kind}") for kind in KINDS},
}
"""Commands about them."""
COMMANDS: dict[str, tuple[str, ...]] = {
    "describe": ("describe", "screen-fail-c"),
    "jobs": ("jobs",),
    "plan": ("plan", "complete.json", "--name", "planned"),
    "error": ("plan", "wrong.json"),
    **{
        f"plan-{kind}": ("plan", f"kinds/{kind}.json", "--name", f"screen-{kind}")
        for kind in ("endpoint", "processing", "transform", "tuning")
    },
    "plan-pipeline": ("plan", "pipeline.json"),
    "run-endpoint": ("run", "kinds/endpoint.json"),
    "deploy-tuning": ("deploy", "kinds/tuning.json"),
    "submit-transform": ("submit", "kinds/transform.json", "--dry-run"),
    "fetch": ("fetch", "described.json", "--file", "-"),
    "doctor": ("doctor",),
}


def look(screens: Screens) -> None:
    for name, words in OF_KINDS.items():
        screens.start(f"{name}-80", *words, columns=80)
    for name, words in COMMANDS.items():
        for columns in (80, 200):
            screens.start(f"{name}-{columns}", *words, columns=columns)
        screens.start(f"{name}-80-no-colour", *words, columns=80, environment=NO_COLOR)
    for terminal in screens.terminals.values():
        if terminal.exit_code is None:
            terminal.end(seconds=120)
    for name, words in COMMANDS.items():
        screens.pipe(f"{name}-pipe", *words)


def of_any_machine(name: str, lines: list[str]) -> list[str]:
    """A screen as it is on any machine."""
    if name.startswith("doctor"):
        # Which checks there are, and in which order; what they found depends on the machine.
        heads = (re.match(r"(?:⟨[a-z]+⟩)?[✔!✗] ?(?:⟨⟩)? ?(\S+)", line) for line in lines)
        return [f"• {found[1]}" for found in heads if found]
    if name.startswith("hosts"):
        # Hosts write at the same time.
        hosts = sorted(line for line in lines if re.search(r"algo-\d \|", line))
        return [hosts.pop(0) if re.search(r"algo-\d \|", line) else line for line in lines]
    return lines


NAMES = [
    *(f"{name}-80" for name in (*KINDS, *OF_KINDS)),
    *(f"{name}-{where}" for name in ("complete", "fail", "hosts", *COMMANDS) for where in ("80", "200", "pipe")),
    *(f"{name}-{columns}" for name in ("stopping", "stop") for columns in (80, 200)),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_screen_is_as_it_was_recorded(name: str, screens: Screens) -> None:
    now = of_any_machine(name, screens.shown(name))
    path = RECORDED / f"{name}.txt"
    if RECORD:
        path.write_text("\n".join(now) + "\n", encoding="utf-8")
    before = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    assert before == now, "\n".join(unified_diff(before, now, "recorded", "now", lineterm=""))


def test_nothing_else_is_recorded() -> None:
    assert sorted(path.stem for path in RECORDED.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize(
    "name", [*(f"{kind}-80" for kind in ("complete", "fail")), *(f"{name}-80" for name in COMMANDS)]
)
def test_without_colours_the_text_is_the_same(name: str, screens: Screens) -> None:
    coloured, plain = screens.terminals[name], screens.terminals[f"{name}-no-colour"]
    assert not re.search(rb"\x1b\[[\d;]*m", plain.raw)
    expected = without_marks(of_any_machine(name, screens.comparable(marked_lines(coloured))))
    assert of_any_machine(name, screens.comparable(marked_lines(plain))) == expected


def test_a_dumb_terminal_shows_the_same_and_gets_no_escapes(screens: Screens) -> None:
    assert b"\x1b" not in screens.terminals["complete-80-dumb"].raw
    assert screens.shown("complete-80-dumb") == without_marks(screens.shown("complete-80"))


def test_colours_are_those_of_the_terminal(screens: Screens) -> None:
    used: set[bytes] = set()
    for terminal in screens.terminals.values():
        used.update(re.findall(rb"\x1b\[([\d;:]*)m", terminal.raw))
    assert used >= {b"1", b"31", b"32", b"36"}
    assert [code for code in used if not OWN_COLOURS.fullmatch(code)] == []


def test_marks_of_the_doctor_have_the_colours_of_a_run(screens: Screens) -> None:
    colours: dict[str, Any] = {"✔": "green", "!": "brown", "✗": "red"}
    marks = [re.match(r"⟨([a-z]+)⟩(\S)", line) for line in screens.marked("doctor-80")]
    assert len([found for found in marks if found]) > 10
    assert all(colours[found[2]] == found[1] for found in marks if found)

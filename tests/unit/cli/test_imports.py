import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kit.tensor_files import save

HEAVY = {"docker", "boto3", "botocore", "requests", "urllib3", "pydantic", "yaml", "rich", "isal", "jinja2"}
ANSWER = {
    "TrainingJobName": "done",
    "TrainingJobArn": "arn:aws:sagemaker:eu-west-1:123456789012:training-job/done",
    "TrainingJobStatus": "Completed",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
}


def imported(home: Path, *arguments: str) -> set[str]:
    """The top-level modules that a command has loaded when it ends."""
    code = """
import sys
from smlocal.cli.main import run_command_line
code = run_command_line(sys.argv[1:])
print(code, *{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={"SMLOCAL_HOME": str(home), "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )
    exit_code, *modules = ended.stderr.splitlines()[-1].split()
    assert exit_code == "0", ended.stderr
    return set(modules)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("--version",), ("run", "--help")], ids=" ".join)
def test_help_imports_click_and_little_else(arguments: tuple[str, ...], tmp_path: Path) -> None:
    modules = imported(tmp_path, *arguments)
    assert "click" in modules
    assert not modules & {*HEAVY, "sqlite3", "tomllib"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that remembers a finished job."""
    from smlocal.jobs.store.jobs import Store
    from smlocal.terms.statuses import COMPLETED

    with Store.open(str(tmp_path)) as store:
        store.create(
            "done",
            run_id="0" * 8,
            created=1.0,
            documents={"request": {}},
            supervisor_pid=None,
            model_uri="file:///out/model.tar.gz",
        )
        store.transition("done", status=COMPLETED.status, phase=COMPLETED.phase, message=COMPLETED.message, at=2.0)
    return tmp_path


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "arguments",
    [
        ("jobs",),
        ("jobs", "--json"),
        ("describe", "done"),
        ("describe", "done", "--json"),
        ("logs", "done"),
        ("metrics", "done"),
    ],
    ids=" ".join,
)
def test_looking_at_jobs_imports_nothing_heavy(arguments: tuple[str, ...], home: Path) -> None:
    modules = imported(home, *arguments)
    assert "sqlite3" in modules
    assert not modules & {*HEAVY, "tomllib"}


def test_tensors_are_read_without_libraries(tmp_path: Path) -> None:
    save(tmp_path / "tensors", 0, {"loss": [0.5]})
    modules = imported(tmp_path, "tensors", f"{tmp_path}/tensors", "--stats")
    assert not modules & {*HEAVY, "numpy", "sqlite3"}


def test_two_jobs_of_this_machine_are_compared_without_aws(home: Path) -> None:
    (home / "answer.json").write_text(json.dumps(ANSWER))
    assert not imported(home, "compare", str(home / "answer.json"), str(home / "answer.json")) & HEAVY


@pytest.mark.slow(0.5)
def test_only_a_report_imports_templates(home: Path) -> None:
    assert imported(home, "report", "done", "--html", "-") & HEAVY == {"jinja2"}

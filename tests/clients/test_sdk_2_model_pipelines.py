"""SDK v2's pipelines of jobs that make, search, register and use models, unmodified."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.clients.conftest import PROGRAMS, User, client_folder, last_json

TELL = """
def handler(event, context):
    return {"found": f"{event['package'].rpartition('/')[2]} {event['factor']} {context.function_name}"}
"""


def execute_with_stand_ins(user: User, requirements: str, program: str, *arguments: str, **handlers: str) -> str:
    """What the program has printed. `handlers`: for the names of steps, the code of a file with `handler`."""
    for name, code in handlers.items():
        (user.own / f"{name}.py").write_text(code)
    lines = [f"{name}: {{Python: '{name}.py:handler'}}\n" for name in handlers]
    (user.own / "steps.yaml").write_text("".join(lines))
    python: Path = client_folder(requirements) / "bin" / "python"
    command = [sys.executable, "-m", "smlocal", "exec", "--steps", "steps.yaml", "--"]
    done = user.run([*command, python, PROGRAMS / program, *arguments])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow(40)
@pytest.mark.long
def test_a_pipeline_makes_searches_registers_and_uses_models_and_functions_are_steps(
    user: User, image: Callable[[str], str]
) -> None:
    images = [image(name) for name in ("train-serve", "py", "sdk-2")]
    printed = execute_with_stand_ins(user, "sdk-2", "sdk2_model_pipeline.py", *images, "models", Tell=TELL)
    jobs = dict.fromkeys(("Prepare", "Search", "Fit"), "Succeeded")
    assert last_json(printed) == {
        "first": {**jobs, **dict.fromkeys(("Check", "Make", "Register", "Apply", "Tell", ""), "Succeeded")},
        "of the first": {
            "status": "PendingManualApproval",
            "of the best": True,
            "own name": True,
            "told": [{"Name": "found", "Value": "1 3 tell"}],
            "package": "model-package/models-models/1",
            "config": "endpoint-config/models-config",
            "applied": "3,6\n",
        },
        "selected": {
            **dict.fromkeys(("Prepare", "Search"), "Succeeded from its source"),
            **dict.fromkeys(("Fit", ""), "Succeeded"),
        },
        "again": {
            **dict.fromkeys(("Prepare", "Search"), "Succeeded from the cache"),
            **dict.fromkeys(("Fit", "Check"), "Succeeded"),
            "Bad": "Failed: only 0.75 of kind b",
            "": "Failed",
        },
        "bad": {**jobs, "Check": "Succeeded", "Bad": "Failed: only 0.25 of kind a", "": "Failed"},
        "functions": {"pair": "Succeeded", "product": "Succeeded", "": "Succeeded", "result": 42},
    }

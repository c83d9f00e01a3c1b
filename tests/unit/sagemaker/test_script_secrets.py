"""The script has no secrets in it, and with those of its caller it does what the plan does."""

import json
import re
import subprocess
from collections.abc import Callable
from typing import Any

from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.training.script import ScriptSecrets, shell_script

Planner = Callable[..., JobPlan]
ODD = 'hunter2 "q" \\ $HOME `x` \'s ü \t'
SECRETS: dict[str, Any] = {
    "AlgorithmSpecification": {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "ContainerEntrypoint": ["run", "--api-key", "hunter2"],
        "ContainerArguments": ["--epochs", "3", "--token=hunter2"],
    },
    "HyperParameters": {
        "epochs": "3",
        "db_password": ODD,
        "db-password": "hunter2",
        "url": "postgres://u:hunter2@h/d",
        "cfg": '{"password": "hunter2"}',
    },
    "Environment": {"HF_TOKEN": "hunter2", "DATABASE_URL": "postgres://u:hunter2@h/d", "LEVEL": "info"},
}
WANTED = {
    "HF_TOKEN": "hunter2",
    "DATABASE_URL": "postgres://u:hunter2@h/d",
    "HYPERPARAMETER_DB_PASSWORD": ODD,
    "HYPERPARAMETER_DB_PASSWORD_2": "hunter2",
    "HYPERPARAMETER_URL": "postgres://u:hunter2@h/d",
    "HYPERPARAMETER_CFG": '{"password": "hunter2"}',
    "ARGUMENT_2": "hunter2",
    "ARGUMENT_5": "--token=hunter2",
}


def test_a_script_has_no_secret_and_names_what_it_needs(plan: Planner) -> None:
    script = shell_script(plan(SECRETS))
    assert "hunter2" not in script
    assert re.findall(r'^: "\$\{(\w+):\?\}"', script, flags=re.MULTILINE) == list(WANTED)
    assert f"# Secrets are not included. Set these first: {' '.join(WANTED)}\n" in script
    assert '--entrypoint run \\\n  image --api-key "$ARGUMENT_2" --epochs 3 "$ARGUMENT_5" >/dev/null' in script
    assert "-e HF_TOKEN \\\n" in script
    assert "-e LEVEL=info \\\n" in script


def test_the_file_that_it_writes_is_that_of_the_plan(plan: Planner) -> None:
    made = plan(SECRETS)
    path = "/opt/ml/input/config/hyperparameters.json"
    content = made.hosts[0].files[path]
    secrets = ScriptSecrets(())
    word = secrets.file(path, content)
    lines = [*secrets.required(), f"printf %s {word}"]
    written = subprocess.run(["sh", "-euc", "\n".join(lines)], env=WANTED, capture_output=True, check=True, timeout=60)
    assert written.stdout == content
    assert json.loads(content)["db_password"] == ODD


def test_lines_of_a_secret_stay_lines() -> None:
    secrets = ScriptSecrets(())
    word = secrets.file("/x.json", b'{"ssh_key":"x"}')
    lines = [*secrets.required(), f"printf %s {word}"]
    environment = {"HYPERPARAMETER_SSH_KEY": "-----BEGIN\nx\r\n-----END\n"}
    done = subprocess.run(
        ["sh", "-euc", "\n".join(lines)], env=environment, capture_output=True, check=True, timeout=60
    )
    assert json.loads(done.stdout) == {"ssh_key": environment["HYPERPARAMETER_SSH_KEY"]}


def test_a_job_without_secrets_needs_none(plan: Planner) -> None:
    script = shell_script(plan({"HyperParameters": {"max_tokens": "5"}, "Environment": {"PWD": "/opt/ml/code"}}))
    assert ":?}" not in script
    assert "json()" not in script
    assert '\'{"max_tokens":"5"}\'' in script

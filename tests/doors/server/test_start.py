"""What `smlocal serve` says at its start is enough to use it: the lines are pasted into another shell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIST = """
import boto3
print(boto3.client("sts").get_caller_identity()["Account"])
print(boto3.client("sagemaker").list_training_jobs()["TrainingJobSummaries"])
"""
OWN_KEY = {"SMLOCAL_ACCESS_KEY_ID": "AKIDEXAMPLE", "SMLOCAL_SECRET_ACCESS_KEY": "a secret; with words"}


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize(
    ("option", "own"), [("--no-key", {}), ("--key", {}), ("--key", OWN_KEY)], ids=["open", "with its key", "own key"]
)
def test_the_printed_lines_connect_a_client(option: str, own: dict[str, str], smlocal_home: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SMLOCAL_"))}
    environment = {**kept, **own, "HOME": str(smlocal_home.parent)}
    command = [sys.executable, "-m", "smlocal", "serve", "--port", "0", option]
    with subprocess.Popen(
        command, env={**environment, "SMLOCAL_HOME": str(smlocal_home)}, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr is not None
            said = [server.stderr.readline() for _ in range(8)]
            (export,) = (line.strip() for line in said if line.lstrip().startswith("export "))
            done = subprocess.run(
                ["bash", "-c", f'{export}\nexec "$0" -c "$1"', sys.executable, LIST],
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert (done.returncode, done.stdout) == (0, "000000000000\n[]\n"), done.stderr
            assert "    smlocal exec -- python train.py\n" in said
            assert said[-1].strip().startswith("http://127.0.0.1:")
            assert ("/-/login?key=" in said[-1]) is (option == "--key")
            assert OWN_KEY["SMLOCAL_SECRET_ACCESS_KEY"] not in "".join(said)
        finally:
            server.terminate()
        assert server.wait(200) == 0

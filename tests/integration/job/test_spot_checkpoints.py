"""A job that loses its instances goes on from its checkpoints, as often as that happens."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import yaml

Run = Callable[..., subprocess.CompletedProcess[str]]

COUNTS = """
n=$(cat /opt/ml/checkpoints/n 2>/dev/null || echo 0)
run=$(sed 's/.*jobRunNumber":\\([0-9]*\\).*/\\1/' /opt/ml/input/config/init-config.json)
echo "from $n in run $run"
ls /opt/ml/model; echo $n >/opt/ml/model/begun-at-$n
trap 'echo $n >/opt/ml/checkpoints/n; exit 1' TERM
while [ $n -lt 25 ] || [ $run != 3 ]; do n=$((n + 1)); sleep 0.1; done
echo $n >/opt/ml/checkpoints/n
"""


def test_a_job_goes_on_from_its_checkpoints(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    request = {
        "TrainingJobName": "spot-checkpoints",
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": COUNTS},
        "CheckpointConfig": {"S3Uri": "./checkpoints"},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "EnableManagedSpotTraining": True,
        "StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 120},
        "Local": {"Faults": [{"Kind": "Interrupt", "AfterSeconds": 3, "Times": 2}]},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(request))
    done = smlocal_run("run", "job.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    lines = smlocal_run("logs", "spot-checkpoints").stdout.splitlines()
    starts = [int(line.split()[1]) for line in lines]
    assert [line.split(" in ")[1] for line in lines] == ["run 1", "run 2", "run 3"]
    assert starts[0] == 0
    assert starts[0] < starts[1] < starts[2]
    assert answer["Local"]["Interruptions"] == 2
    assert answer["BillableTimeInSeconds"] < answer["TrainingTimeInSeconds"]
    assert (tmp_path / "checkpoints" / "n").read_text() == f"{max(25, starts[2])}\n"
    members = subprocess.run(
        ["tar", "-tzf", tmp_path / "out" / "spot-checkpoints" / "output" / "model.tar.gz"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert members.stdout.split() == [f"begun-at-{starts[2]}"]
    assert_nothing_left("spot-checkpoints")

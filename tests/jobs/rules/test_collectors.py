"""TensorBoard's logs and the debugger's tensors come to their targets while the job runs."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until
from tests.kit.fixtures import touch_inside

Clean = Callable[[str], None]

COLLECTS = """
exec 3>$BOARD/events
echo one >&3
echo tensor >$TENSORS/draft; mv $TENSORS/draft $TENSORS/step-1
until [ -e /opt/ml/output/two ]; do sleep 0.05; done
echo two >&3; rm $TENSORS/step-1
until [ -e /opt/ml/output/over ]; do sleep 0.05; done
echo three >&3
"""


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(
    ("board", "tensors", "where"),
    [
        ({"S3OutputPath": "./tb"}, {"S3OutputPath": "./debug"}, ("tb/{job}", "debug/{job}")),
        (
            {"S3OutputPath": "s3://bucket/logs/tb", "LocalPath": "/opt/ml/board"},
            {"S3OutputPath": "s3://bucket/logs", "LocalPath": "/opt/ml/output/data/tensors/"},
            ("logs/tb/{job}", "logs/{job}"),
        ),
        ({"S3OutputPath": "s3://other/tb"}, {"S3OutputPath": "s3://other/debug"}, ("out/{job}", "out/{job}")),
    ],
    ids=["local", "mapped", "unmapped"],
)
def test_collected_while_the_job_runs(
    job_file: Callable[..., Path],
    background: Callable[..., Any],
    tmp_path: Path,
    assert_nothing_left: Clean,
    board: dict[str, str],
    tensors: dict[str, str],
    where: tuple[str, str],
) -> None:
    script = COLLECTS.replace("$BOARD", board.get("LocalPath", "/opt/ml/output/tensorboard"))
    path = job_file(
        [],
        script.replace("$TENSORS", tensors.get("LocalPath", "/opt/ml/output/tensors")),
        InputDataConfig=None,
        TensorBoardOutputConfig=board,
        DebugHookConfig=tensors,
        local={"Sources": {"s3://bucket/logs": "./logs"}},
    )
    job = background(path)
    events = tmp_path / where[0].format(job=job.name) / "tensorboard-output" / "events"
    step = tmp_path / where[1].format(job=job.name) / "debug-output" / "step-1"
    until(lambda: job.process.poll() is not None or (read(events) == "one\n" and read(step) == "tensor\n"))
    assert job.process.poll() is None, job.output()
    control = job.home / "jobs" / job.name / "hosts" / "algo-1" / "output"
    touch_inside(control / "two")
    until(lambda: read(events) == "one\ntwo\n" and not step.exists())
    touch_inside(control / "over")
    answer = job.finish()
    assert answer["TrainingJobStatus"] == "Completed"
    assert answer["Local"]["Artifacts"]["Notes"] == []
    assert read(events) == "one\ntwo\nthree\n"
    assert os.listdir(step.parent) == ["training_job_end.ts"]
    assert os.listdir(events.parent) == ["events"]
    noted = {note["Id"] for note in answer["Local"]["Notes"]}
    assert ("collectors" in noted) == (where[0] == "out/{job}")
    assert_nothing_left(job.name)


@pytest.mark.parametrize("path", ["relative", "/opt/ml", "/opt/ml/input/x", "/opt/ml/checkpoints"])
def test_folders_that_cannot_be_collected_from(run_refused: Callable[..., str], path: str) -> None:
    said = run_refused(
        InputDataConfig=None,
        CheckpointConfig={"S3Uri": "./ckpt"},
        TensorBoardOutputConfig={"S3OutputPath": "./tb", "LocalPath": path},
    )
    assert f"TensorBoardOutputConfig.LocalPath: {path} is refused" in said


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (
            {"TensorBoardOutputConfig": None, "DebugHookConfig": "/opt/ml/output/tensorboard/"},
            (
                "DebugHookConfig.LocalPath: /opt/ml/output/tensorboard/ is refused: "
                "It is also the folder of TensorBoardOutputConfig."
            ),
        ),
        (
            {"TensorBoardOutputConfig": "/opt/ml/output/tensors", "DebugHookConfig": None},
            (
                "TensorBoardOutputConfig.LocalPath: /opt/ml/output/tensors is refused: "
                "It is also the folder of DebugHookConfig."
            ),
        ),
        (
            {"CheckpointConfig": "/opt/ml/output", "DebugHookConfig": None},
            (
                "CheckpointConfig.LocalPath: /opt/ml/output is refused: "
                "It contains /opt/ml/output/tensors, the folder of DebugHookConfig."
            ),
        ),
        (
            {"CheckpointConfig": None, "TensorBoardOutputConfig": "/opt/ml/checkpoints/logs"},
            (
                "TensorBoardOutputConfig.LocalPath: /opt/ml/checkpoints/logs is refused: "
                "It is inside /opt/ml/checkpoints, the folder of CheckpointConfig."
            ),
        ),
    ],
)
def test_folders_that_share_files(run_refused: Callable[..., str], members: dict[str, str | None], said: str) -> None:
    uris = {"CheckpointConfig": "S3Uri", "TensorBoardOutputConfig": "S3OutputPath", "DebugHookConfig": "S3OutputPath"}
    request = {
        member: {uris[member]: "./target", **({} if path is None else {"LocalPath": path})}
        for member, path in members.items()
    }
    assert said in " ".join(run_refused(InputDataConfig=None, **request).split())


@pytest.fixture
def run_refused(job_file: Callable[..., Path], smlocal_run: Callable[..., Any], tmp_path: Path) -> Callable[..., str]:
    """Runs a job that is not even made; what it is told."""

    def run(**members: Any) -> str:
        done = smlocal_run("run", job_file([], "true", **members).name, cwd=tmp_path)
        assert done.returncode == 2, done.stderr
        said: str = done.stderr
        return said

    return run

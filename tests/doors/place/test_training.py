"""Training jobs in a place like SageMaker Studio."""

import tarfile
from pathlib import Path

import pytest
from tests.doors.place.conftest import Here

pytestmark = [pytest.mark.engine, pytest.mark.slow(15, together=True)]

_DATA = "/opt/ml/input/data"
_LOOK = f"""
echo "$SM_STUDIO_LOCAL_MODE $(grep -o '"current_host": *"[^"]*"' /opt/ml/input/config/resourceconfig.json)"
cat {_DATA}/file/a {_DATA}/fast/a {_DATA}/pipe_0
echo changed > {_DATA}/file/a
echo trained > /opt/ml/model/weights
echo beside > /opt/ml/output/data/other
mkdir -m 700 /opt/ml/model/private; echo deep > /opt/ml/model/private/file
"""


def channel(name: str, mode: str) -> dict[str, object]:
    source = {"S3DataType": "S3Prefix", "S3Uri": f"./data/{name}"}
    return {"ChannelName": name, "InputMode": mode, "DataSource": {"S3DataSource": source}}


def test_a_job_trains_on_channels_of_each_mode(here: Here) -> None:
    modes = {"file": "File", "fast": "FastFile", "pipe": "Pipe"}
    here.write({f"data/{name}/a": f"of {name}\n" for name in modes})
    channels = [channel(name, mode) for name, mode in modes.items()]

    answer = here.run(here.training("place-modes", _LOOK, InputDataConfig=channels))

    assert answer["TrainingJobStatus"] == "Completed", answer
    log = Path(answer["Local"]["Hosts"][0]["Log"]).read_text()
    assert log.splitlines() == ['True "current_host":"sagemaker-local"', "of file", "of fast", "of pipe"]
    assert (here.home / "data/file/a").read_text() == "of file\n"
    with tarfile.open(answer["Local"]["Artifacts"]["Model"]) as archive:
        assert {"weights", "private/file"} <= set(archive.getnames())
    assert here.of_others() == []
    here.smlocal("rm", "place-modes")
    assert list((here.home / ".local/share/smlocal/jobs").iterdir()) == []


def test_a_job_fails_for_its_own_reason(here: Here) -> None:
    script = "echo broken >&2; mkdir -p /opt/ml/output; echo no data > /opt/ml/output/failure; exit 3"
    answer = here.run(here.training("place-fails", script))
    assert answer["TrainingJobStatus"] == "Failed"
    assert answer["FailureReason"] == "AlgorithmError: no data\n, exit code: 3"
    assert "broken" in here.smlocal("logs", "place-fails")


def test_a_job_is_stopped_and_saves_its_work(here: Here) -> None:
    script = "trap 'echo saved > /opt/ml/model/weights; exit 0' TERM; echo up; while :; do sleep 0.1; done"
    here.smlocal("run", "--detach", here.training("place-stop", script))
    follower = here.place.begin("smlocal", "logs", "--follow", "place-stop")
    assert follower.stdout is not None
    assert follower.stdout.readline() == "up\n"

    here.smlocal("stop", "place-stop")

    follower.communicate()
    answer = here.described("place-stop")
    assert answer["TrainingJobStatus"] == "Stopped"
    with tarfile.open(answer["Local"]["Artifacts"]["Model"]) as archive:
        assert "weights" in archive.getnames()


def test_a_job_whose_supervisor_was_killed_is_continued(here: Here) -> None:
    script = "echo up; while [ ! -e /opt/ml/output/data/go ]; do sleep 0.1; done; echo end > /opt/ml/model/weights"
    here.smlocal("run", "--detach", here.training("place-adopted", script))
    follower = here.place.begin("smlocal", "logs", "--follow", "place-adopted")
    assert follower.stdout is not None
    assert follower.stdout.readline() == "up\n"

    here.kill_supervisor("place-adopted")
    here.place.run("touch", ".local/share/smlocal/jobs/place-adopted/hosts/algo-1/output/data/go", check=True)
    here.smlocal("recover")

    follower.communicate()
    assert here.described("place-adopted")["TrainingJobStatus"] == "Completed"

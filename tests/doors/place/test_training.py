"""Training jobs in a place like SageMaker Studio."""

import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.doors.place.conftest import RESOURCES, Here
from tests.kit.studio_engine import NOT_ALLOWED, StudioPlace

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


def test_folders_outside_the_home_are_copied(here: Here) -> None:
    """Only the home can be mounted. Here it is so for each mode of a channel, for code, checkpoints and the output."""
    outside = "mkdir -p /tmp/outside/{data,code,ck}; echo data > /tmp/outside/data/a; echo code > /tmp/outside/code/a"
    here.place.run("bash", "-c", f"{outside}; echo saved > /tmp/outside/ck/a; ln -s /tmp/outside/data link", check=True)
    channels = [channel("file", "File"), channel("fast", "FastFile"), channel("pipe", "Pipe"), channel("link", "File")]
    for each, uri in zip(channels, ["/tmp/outside/data"] * 3 + ["./link"], strict=True):
        each["DataSource"] = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri}}
    script = f"cat {_DATA}/file/a {_DATA}/fast/a {_DATA}/pipe_0 {_DATA}/link/a /opt/ml/code/a /opt/ml/checkpoints/a"
    file = here.training(
        "place-outside",
        f"{script}; cp /opt/ml/code/a /opt/ml/model; echo more > /opt/ml/checkpoints/b",
        InputDataConfig=channels,
        CheckpointConfig={"S3Uri": "/tmp/outside/ck", "LocalPath": "/opt/ml/checkpoints"},
        OutputDataConfig={"S3OutputPath": "/tmp/outside/out"},
        Local={"Code": "/tmp/outside/code"},
    )
    answer = here.run(file)
    assert answer["TrainingJobStatus"] == "Completed", answer
    assert here.smlocal("logs", "place-outside").split() == ["data"] * 4 + ["code", "saved"]
    found = here.place.run("find", "/tmp/outside/out", "/tmp/outside/ck", "-type", "f", check=True).stdout.split()
    model = "/tmp/outside/out/place-outside/output/model.tar.gz"
    assert sorted(found) == ["/tmp/outside/ck/a", "/tmp/outside/ck/b", model]


def test_rules_credentials_and_what_a_job_leaves_for_the_next(here: Here) -> None:
    """Companions of a container are on the same network."""
    rule = {
        "RuleConfigurationName": "Mine",
        "RuleEvaluatorImage": here.image("rule"),
        "LocalPath": "/opt/ml/own/",
        "RuleParameters": {"script": "say NoIssuesFound 1 $(ls /opt/ml/own -d)"},
        "InstanceType": "ml.t3.medium",
        "VolumeSizeInGB": 0,
    }
    warm: dict[str, Any] = {"ResourceConfig": {**RESOURCES, "KeepAlivePeriodInSeconds": 60}}
    token = '--header "Authorization: $AWS_CONTAINER_AUTHORIZATION_TOKEN"'
    script = f'wget -qO- {token} "$AWS_CONTAINER_CREDENTIALS_FULL_URI" | grep -o AKIA[A-Z0-9]*'
    file = here.training(
        "place-companions",
        f"{script}; echo warm > /opt/ml/sagemaker/warmpoolcache/a",
        DebugRuleConfigurations=[rule],
        DebugHookConfig={"S3OutputPath": "./debug"},
        Local={"Credentials": "inherit"},
        **warm,
    )
    keys = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}
    done = here.place.run("smlocal", "run", file, env=keys)
    assert done.returncode == 0, done.stderr
    assert "AKIAIOSFODNN7EXAMPLE" in done.stdout
    (status,) = here.described("place-companions")["DebugRuleEvaluationStatuses"]
    assert (status["RuleEvaluationStatus"], status["StatusDetails"]) == ("NoIssuesFound", "/opt/ml/own")

    next_job = here.training("place-next", "cat /opt/ml/sagemaker/warmpoolcache/a; exit 1", **warm)
    here.run(next_job, "--keep", "failed")
    assert here.smlocal("logs", "place-next") == "warm\n"
    assert len(here.place.left()) == 1
    here.smlocal("rm", "place-next")


def test_a_spot_job_is_interrupted_and_goes_on(here: Here) -> None:
    checkpoints = {"S3Uri": "./checkpoints", "LocalPath": "/opt/ml/checkpoints"}
    wait = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
    script = f"[ ! -e /opt/ml/checkpoints/a ] || exit 0; echo 1 > /opt/ml/checkpoints/a; {wait}"
    file = here.training(
        "place-spot",
        script,
        EnableManagedSpotTraining=True,
        CheckpointConfig=checkpoints,
        StoppingCondition={"MaxRuntimeInSeconds": 240, "MaxWaitTimeInSeconds": 240},
        Local={"Faults": [{"Kind": "Interrupt", "AfterSeconds": 1}]},
    )
    assert here.run(file)["TrainingJobStatus"] == "Completed"
    assert here.files("checkpoints") == {"a": "1\n"}


def test_a_registry_that_the_place_closes_is_no_failure_of_the_job(here: Here) -> None:
    """As in a domain of VPCs, which lets only images of some accounts through."""
    here.place.engine.refuse("POST /images/create")
    done = here.place.run("smlocal", "run", "--image", "nowhere.invalid/image:1")
    assert done.returncode == 1
    assert "place-refused" in done.stderr
    assert NOT_ALLOWED in " ".join(done.stderr.split())
    assert "image-1" not in here.smlocal("jobs")
    assert [each.path.partition("?")[0] for each in here.place.engine.refused] == ["/v1.41/images/create"]
    here.place.engine.refused.clear()


@pytest.mark.parametrize("calls", ["POST .*/wait", "GET /containers/[^/]+/json", "POST .*/(wait|kill|stop)"])
def test_a_place_that_lets_no_container_be_watched_is_no_lost_engine(calls: str, here: Here) -> None:
    """The job fails at once, with the place's words, and its container is removed though it runs."""
    here.place.engine.refuse(calls)
    done = here.place.run("smlocal", "run", here.training("place-unseen", "sleep 1000"))
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert "a container could not be watched: SageMaker Studio refuses" in said
    assert "unreachable" not in said
    assert here.place.left() == []
    here.place.engine.refused.clear()


def test_a_place_that_lets_no_signal_through_is_named_and_the_container_stopped(here: Here) -> None:
    running = here.place.begin("smlocal", "run", here.training("place-deaf", "echo up; sleep 1000"))
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    here.place.engine.refuse("POST .*/kill")
    here.smlocal("stop", "place-deaf", "--grace", "0", "--wait")
    said = " ".join(running.communicate()[1].split())
    assert "algo-1 did not get SIGTERM: SageMaker Studio refuses POST" in said
    assert here.described("place-deaf")["TrainingJobStatus"] == "Stopped"
    assert here.place.left() == []
    here.place.engine.refused.clear()


def test_the_engine_may_call_the_home_otherwise(
    place_of: Callable[..., StudioPlace], image: Callable[[str | Path], str]
) -> None:
    """What it says of the mounts of a container is no path in the place."""
    place = place_of(there=Path("/home/sagemaker-user"))
    here = Here(place=place, image=image)
    here.write({"data/file/a": "of file\n", "data/pipe/a": "of pipe\n"})
    file = here.training(
        "place-moved",
        f"cat {_DATA}/file/a {_DATA}/pipe_0; umask 077; mkdir /opt/ml/model/deep; echo m > /opt/ml/model/deep/m",
        InputDataConfig=[channel("file", "File"), channel("pipe", "Pipe")],
    )
    answer = here.run(file)
    assert answer["TrainingJobStatus"] == "Completed", answer
    assert answer["Local"]["Artifacts"]["Model"].startswith("/home/sagemaker-user/out/")
    assert here.smlocal("logs", "place-moved") == "of file\nof pipe\n"
    with tarfile.open(place.home / "out/place-moved/output/model.tar.gz") as archive:
        assert "deep/m" in archive.getnames()
    assert here.of_others() == []
    here.smlocal("rm", "place-moved")
    place.assert_nothing_refused()
    assert place.left() == []


def test_an_image_without_tools_gives_files_back_by_its_python(here: Here) -> None:
    """It has neither chown nor tar."""
    tag = f"smlocal-test-no-tools-{os.getpid()}"
    text = f"FROM {here.image('py')}\nRUN rm -f /bin/tar /bin/chown /usr/bin/tar /usr/bin/chown\n"
    subprocess.run(["docker", "build", "--quiet", "--tag", tag, "-"], input=text, text=True, check=True)
    here.write(
        {"code/train.py": "import os\nos.makedirs('/opt/ml/model/deep', 0o700)\nopen('/opt/ml/model/deep/m', 'x')"}
    )
    entrypoint = {"ContainerEntrypoint": ["python3", "/opt/ml/code/train.py"]}
    specification = {"TrainingImage": tag, "TrainingInputMode": "File", **entrypoint}
    try:
        file = here.training("place-tools", "", AlgorithmSpecification=specification, Local={"Code": "./code"})
        answer = here.run(file)
    finally:
        subprocess.run(["docker", "rmi", "--force", tag], check=True, stdout=subprocess.DEVNULL)
    assert answer["TrainingJobStatus"] == "Completed", answer
    with tarfile.open(answer["Local"]["Artifacts"]["Model"]) as archive:
        assert "deep/m" in archive.getnames()
    assert here.of_others() == []


def test_root_has_jobs_there_too(place_of: Callable[..., StudioPlace], image: Callable[[str | Path], str]) -> None:
    place = place_of(user="0:0", app="CodeEditor")
    here = Here(place=place, image=image)
    answer = here.run(here.training("place-root", "mkdir /opt/ml/model/a; echo m > /opt/ml/model/a/m"))
    assert answer["TrainingJobStatus"] == "Completed"
    place.assert_nothing_refused()
    assert place.left() == []

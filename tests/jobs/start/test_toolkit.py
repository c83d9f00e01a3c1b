"""Jobs whose image has the training toolkit that AWS publishes: its `train` runs a user's script in each input mode."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit.fixtures import IMAGES
from tests.kit.jobs import Ran, channel
from tests.kit.s3_servers import S3Servers

from smlocal.engine.engines import connect

RunJob = Callable[..., Ran]
ALL = "one\ntwo\nthree\n"


def toolkit(**more: str) -> dict[str, Any]:
    """A job as the SDK writes it: every value is JSON within a string, and the code lies in S3."""
    return {
        "runs": "toolkit",
        "local": {"Code": str(IMAGES / "toolkit" / "code")},
        "Environment": {},
        "HyperParameters": {
            "sagemaker_program": '"train.py"',
            "sagemaker_submit_directory": '"s3://nobody-has-this-bucket/source/sourcedir.tar.gz"',
            "sagemaker_container_log_level": "20",
            "sagemaker_region": '"eu-west-1"',
            "epochs": "2",
            "greeting": '"good day"',
            **more,
        },
    }


@pytest.fixture
def in_s3(s3_servers: S3Servers) -> tuple[str, dict[str, str]]:
    """What `data` holds, as objects, and the environment to find it."""
    server = s3_servers("rclone")
    bucket = server.make_bucket()
    for key, text in {"in/a": b"one\n", "in/b/c": b"two\n", "in/d": b"three\n", "inner": b"no"}.items():
        server.put(bucket, key, text)
    return f"s3://{bucket}/in/", server.environment


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("place", ["local", "s3"])
@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
def test_the_script_reads_its_channel(
    run_job: RunJob, data: Path, in_s3: tuple[str, dict[str, str]], mode: str, place: str
) -> None:
    uri, environment = in_s3 if place == "s3" else (str(data), {})
    ran = run_job([channel(uri=uri, mode=mode)], "", env=environment, **toolkit())
    assert ran.answer["TrainingJobStatus"] == "Completed", ran.reason + ran.log()
    assert json.loads(ran.model("model.json")) == {
        "mode": mode,
        "greeting": "good day",
        "epochs": [ALL, ALL],
        "seen": {
            "channel_train": "/opt/ml/input/data/train",
            "channels": '["train"]',
            "current_host": "algo-1",
            "current_instance_group": "homogeneousCluster",
            "current_instance_group_hosts": '["algo-1"]',
            "current_instance_type": "ml.m5.large",
            "hosts": '["algo-1"]',
            "is_hetero": "false",
            "network_interface_name": "eth0",
        },
    }
    if (mode, place) == ("FastFile", "s3"):
        assert ran.answer["Local"]["Hosts"][0]["Staging"]["/opt/ml/input/data/train"] == (
            "fuse" if connect().has_our_mounts() else "bind"
        )
    # Code that is there already is not fetched.
    assert "abandoning unzipping sourcedir.tar.gz" in ran.log()
    # The toolkit's own hyperparameters are kept from the script, and the rest arrives as arguments.
    assert 'SM_HPS {"epochs":2,"greeting":"good day"}' in ran.log().splitlines()
    assert "train.py --epochs 2 --greeting good day" in ran.log()
    assert "Reporting training SUCCESS" in ran.log()


@pytest.mark.slow(1)
@pytest.mark.usefixtures("data")
def test_a_script_that_fails(run_job: RunJob) -> None:
    # An isolated host finds its own name as well: without it the toolkit would wait for 15 minutes.
    ran = run_job([channel()], "", **toolkit(exit="42"), EnableNetworkIsolation=True)
    assert ran.exit == 1
    assert "isolation" in ran.notes
    # The toolkit keeps the script's exit code to itself and says it in the failure file.
    assert ran.answer["Local"]["Hosts"][0]["ExitCode"] == 1
    assert ran.reason.startswith('AlgorithmError: ExecuteUserScriptError:\nExitCode 42\nErrorMessage ""\nCommand "')
    assert ran.reason.endswith(' train.py --epochs 2 --exit 42 --greeting good day", exit code: 1')


@pytest.mark.slow(2)
@pytest.mark.usefixtures("data")
def test_hosts_find_each_other_and_read_their_shards(run_job: RunJob) -> None:
    # Before the script runs, every host of the job must have an address: the toolkit tries for 15 minutes.
    ran = run_job(
        [channel(mode="Pipe", S3DataDistributionType="ShardedByS3Key")],
        "",
        **toolkit(epochs="1"),
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 2},
    )
    assert ran.exit == 0, ran.reason
    assert 'read ["one\\nthree\\n"]' in ran.log("algo-1").splitlines()
    assert 'read ["two\\n"]' in ran.log("algo-2").splitlines()


@pytest.mark.slow(1)
def test_a_host_that_has_ended_still_has_an_address(run_job: RunJob) -> None:
    # The toolkit of a host that begins late looks for one that has done its work already.
    ran = run_job(
        [],
        "if grep -q 'current_host\":\"algo-1' /opt/ml/input/config/resourceconfig.json; then exit 0; fi\n"
        "while ping -c 1 -W 1 algo-1 >/dev/null 2>&1; do sleep 0.1; done\n"
        "said=$(ping -c 1 -W 1 algo-1 2>&1) || true\n"
        'echo "$said"\n',
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 2},
    )
    assert ran.exit == 0, ran.reason
    # Nobody answers there any more, and everybody knows where.
    assert "100% packet loss" in ran.log("algo-2"), ran.log("algo-2")

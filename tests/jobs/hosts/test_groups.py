"""Instance groups: hosts of several kinds, and channels that only some of them have."""

import json
from collections.abc import Callable

import pytest
from tests.kit.jobs import Ran, channel

RunJob = Callable[..., Ran]
GROUPS = {
    "InstanceGroups": [
        {"InstanceGroupName": "data", "InstanceType": "ml.c5.xlarge", "InstanceCount": 1},
        {"InstanceGroupName": "train", "InstanceType": "ml.m5.large", "InstanceCount": 2},
    ]
}


@pytest.mark.slow(2)
@pytest.mark.usefixtures("data")
def test_the_hosts_of_groups(run_job: RunJob) -> None:
    ran = run_job([channel()], "cat /opt/ml/input/config/resourceconfig.json", ResourceConfig=GROUPS)
    assert ran.answer["ResourceConfig"] == {"VolumeSizeInGB": 0, **GROUPS}
    for number, (group, kind) in enumerate(
        [("data", "ml.c5.xlarge"), ("train", "ml.m5.large"), ("train", "ml.m5.large")], start=1
    ):
        assert json.loads(ran.log(f"algo-{number}")) == {
            "current_host": f"algo-{number}",
            "current_instance_type": kind,
            "current_group_name": group,
            "hosts": ["algo-1", "algo-2", "algo-3"],
            "instance_groups": [
                {"instance_group_name": "data", "instance_type": "ml.c5.xlarge", "hosts": ["algo-1"]},
                {"instance_group_name": "train", "instance_type": "ml.m5.large", "hosts": ["algo-2", "algo-3"]},
            ],
            "network_interface_name": "eth0",
            "topology": None,
        }


@pytest.mark.slow(2)
@pytest.mark.usefixtures("data")
def test_a_channel_of_one_group(run_job: RunJob) -> None:
    channels = [
        channel("all"),
        channel("some", InstanceGroupNames=["train"], S3DataDistributionType="ShardedByS3Key"),
        channel("fed", mode="Pipe", InstanceGroupNames=["data"]),
    ]
    script = (
        "cd /opt/ml/input; ls data; cat config/inputdataconfig.json; echo; cd data; [ ! -d some ] || find some -type f"
    )
    ran = run_job(channels, script, ResourceConfig=GROUPS)
    seen = {number: ran.log(f"algo-{number}").splitlines() for number in (1, 2, 3)}
    assert seen[1][:3] == ["all", "all-manifest", "fed_0"]
    assert list(json.loads(seen[1][3])) == ["all", "fed"]
    for number, files in ((2, ["some/a", "some/d"]), (3, ["some/b/c"])):
        assert seen[number][:4] == ["all", "all-manifest", "some", "some-manifest"]
        assert list(json.loads(seen[number][4])) == ["all", "some"]
        assert sorted(seen[number][5:]) == files

"""EFS and FSx: a folder of this machine in their place, as it is."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit.jobs import Ran

RunJob = Callable[..., Ran]
INSIDE = "/opt/ml/input/data/train"


def mounted(access: str, directory: str = "/b") -> dict[str, Any]:
    source = {
        "FileSystemId": "fs-0123abcd",
        "FileSystemType": "EFS",
        "FileSystemAccessMode": access,
        "DirectoryPath": directory,
    }
    return {"ChannelName": "train", "DataSource": {"FileSystemDataSource": source}}


def test_a_file_system_is_mounted_in_place(run_job: RunJob, data: Path) -> None:
    script = f"cd {INSIDE}; cat c; ls /opt/ml/input/data; cat /opt/ml/input/config/inputdataconfig.json"
    ran = run_job([mounted("ro")], script, local={"Sources": {"fs-0123abcd": str(data)}})
    assert ran.log() == (
        "two\ntrain\n"
        '{"train":{"TrainingInputMode":"File","S3DistributionType":"FullyReplicated","RecordWrapperType":"None"}}'
    )
    assert {"file-systems", "file-system-vpc"} <= ran.notes


@pytest.mark.slow(1)
def test_only_rw_can_be_written(run_job: RunJob, data: Path) -> None:
    script = f"mkdir -p {INSIDE}/new/deep && echo here >{INSIDE}/new/deep/file"
    local = {"Sources": {"fs-0123abcd": str(data)}}
    refused = run_job([mounted("ro", "/")], f"({script}) 2>&1 || true", local=local)
    assert "Read-only file system" in refused.log()
    assert sorted(os.listdir(data)) == ["a", "b", "d"]
    run_job([mounted("rw", "/")], script, local=local)
    assert (data / "new" / "deep" / "file").read_text() == "here\n"

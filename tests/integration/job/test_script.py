"""The script that a plan prints does by hand what the run does."""

import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

Run = Callable[..., "subprocess.CompletedProcess[str]"]

LOOK = """
cd /opt/ml
find . | LC_ALL=C sort
cat input/config/*.json input/data/*-manifest
find input/data -type f -exec cat {} +
echo "$ODD $API_TOKEN"
echo changed >>input/data/train/a.csv
mkdir -p model/sub; echo model >model/sub/file; echo output >output/data/file
"""


@pytest.mark.parametrize("staging", ["overlay", "copy"])
@pytest.mark.parametrize("hosts", [1, 2])
def test_script_and_run_agree(
    staging: str,
    hosts: int,
    tmp_path: Path,
    smlocal_run: Run,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    data = tmp_path / "da'ta, and: more"
    (data / "deep").mkdir(parents=True)
    (data / "a.csv").write_text("1\n")
    (data / "deep" / "b c.csv").write_text("2\n")
    many = tmp_path / "many"
    many.mkdir()
    for number in range(30):
        (many / f"{number}.txt").write_text(f"{number}\n")
    request = {
        "TrainingJobName": "by-hand",
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "HyperParameters": {"quote": 'it\'s "odd" $HOME'},
        "Environment": {"SCRIPT": LOOK, "ODD": "it's $odd", "API_TOKEN": "hush"},
        "InputDataConfig": [
            {"ChannelName": name, "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": str(path)}}}
            for name, path in (("train", data), ("many", many), ("one", data / "a.csv"))
        ],
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(request))
    flags = ("job.yaml", "--staging", staging)
    script = smlocal_run("plan", *flags, "--script", cwd=tmp_path, check=True).stdout
    assert "hush" not in script

    by_hand = subprocess.run(
        ["sh"], input=script, capture_output=True, text=True, cwd=tmp_path, env=_environment(), check=False
    )
    assert by_hand.returncode == 0, by_hand.stderr
    members = _members(tmp_path)
    assert_nothing_left("by-hand")
    run = smlocal_run("run", *flags, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert members == _members(tmp_path)
    assert members["model.tar.gz"] == {"sub": None, "sub/file": b"model\n"}
    if hosts == 1:
        assert by_hand.stdout == run.stdout
    assert (data / "a.csv").read_text() == "1\n"


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "API_TOKEN": "hush"}


def _members(folder: Path) -> dict[str, dict[str, bytes | None]]:
    found = {}
    for archive in sorted((folder / "out" / "by-hand" / "output").iterdir()):
        with tarfile.open(archive) as members:
            content = {}
            for member in members:
                file = members.extractfile(member)
                content[member.name] = file.read() if file is not None else None
            found[archive.name] = content
        archive.unlink()
    return found

import io
import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from smlocal.cli.main import run_command_line

ROOT = Path(__file__).parents[4]
GOOD = """\
AlgorithmSpecification: {TrainingImage: image, TrainingInputMode: File}
InputDataConfig:
  - ChannelName: train
    DataSource: {S3DataSource: {S3DataType: S3Prefix, S3Uri: ./data}}
OutputDataConfig: {S3OutputPath: ./out}
ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1}
"""
SUBMITTED = """\
TrainingJobName: one
RoleArn: arn:aws:iam::123456789012:role/Trainer
AlgorithmSpecification: {TrainingImage: image, TrainingInputMode: File}
OutputDataConfig: {S3OutputPath: "s3://bucket/out"}
ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "bad.yaml").write_text(GOOD.replace("InstanceCount: 1", "InstanceCount: one"))
    return tmp_path


@pytest.mark.usefixtures("here")
def test_a_valid_file_needs_no_engine(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere")
    assert run_command_line(["validate", "good.yaml"]) == 0
    assert capfd.readouterr() == ("", "valid\n")


def test_each_file_is_validated_though_others_are_wrong(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(here / "fifo")
    assert run_command_line(["validate", "bad.yaml", "good.yaml", "data", "fifo", "none.yaml", "bad.yaml"]) == 2
    said = capsys.readouterr().err
    assert "bad.yaml:6   ResourceConfig.InstanceCount" in said
    assert said.count("[request-invalid]") == 1
    assert said.count("[job-file-missing]") == 3
    assert said.endswith("5 files: 4 not valid\n")


def test_a_document_with_the_lines_of_problems(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "torn.yaml").write_text("a: [1\nb: 2\n")
    assert run_command_line(["validate", "--json", "good.yaml", "bad.yaml", "torn.yaml"]) == 2
    document = json.loads(capsys.readouterr().out)["Validation"]
    assert not document["Valid"]
    good, bad, torn = document["Files"]
    assert good == {"File": "good.yaml", "Valid": True}
    (problem,) = bad["Problems"]
    assert problem["Line"] == 6
    assert problem["Message"].startswith("ResourceConfig.InstanceCount is")
    assert bad["Error"]["Id"] == "request-invalid"
    assert [each["Line"] for each in torn["Problems"]] == [2]


@pytest.mark.usefixtures("here")
def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace("Count: 1", "Count: one").encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert run_command_line(["validate", "--json", "-"]) == 2
    (file,) = json.loads(capsys.readouterr().out)["Validation"]["Files"]
    assert file["File"] == "stdin"
    assert file["Problems"][0]["Line"] == 6


def test_a_case_for_each_file(here: Path) -> None:
    assert run_command_line(["validate", "good.yaml", "bad.yaml", "--junit", "found.xml"]) == 2
    suite = ET.parse(here / "found.xml").find("testsuite")
    assert suite is not None
    good, bad = suite.findall("testcase")
    assert (good.get("name"), good.find("failure")) == ("good.yaml", None)
    failure = bad.find("failure")
    assert (bad.get("name"), bad.get("line")) == ("bad.yaml", "6")
    assert failure is not None
    assert failure.get("type") == "request-invalid"


def test_a_path_that_is_not_here_is_a_warning(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "data").rmdir()
    (here / "good.yaml").write_text(GOOD + "Local: {Sources: {'s3://b/x': ./missing}, Code: ./code}\n")
    assert run_command_line(["validate", "good.yaml"]) == 0
    assert capsys.readouterr().err.splitlines()[:-1] == [
        "warning: good.yaml:4   ./data does not exist here",
        "warning: good.yaml:7   ./missing does not exist here",
        "warning: good.yaml:7   ./code does not exist here",
    ]


def test_strict_is_what_the_service_takes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "job.yaml").write_text(SUBMITTED)
    assert run_command_line(["validate", "--strict", "job.yaml"]) == 0
    (here / "job.yaml").write_text(SUBMITTED + "Local: {Output: ./out}\n")
    assert run_command_line(["validate", "job.yaml"]) == 0
    assert run_command_line(["validate", "--strict", "job.yaml", "good.yaml"]) == 2
    said = capsys.readouterr().err
    assert "job.yaml:6   Local is for this machine" in said
    assert "'./data' at 'inputDataConfig" in said
    assert "'trainingJobName' failed" in said
    assert "'roleArn' failed" in said


@pytest.mark.slow(0.5)
def test_twenty_thousand_unknown_keys_are_a_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "many.yaml").write_text(GOOD + "".join(f"Key{number}: 1\n" for number in range(19_000)))
    for command in ("validate", "plan"):
        assert run_command_line([command, "many.yaml"]) == 2
        said = capsys.readouterr().err
        assert "at least 1,000 problems in many.yaml" in said
        assert "… and 970 more" in said
        assert len(said) < 4000
        assert said.count("known here") == 1


def test_a_long_key_is_cut(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "long.json").write_text(json.dumps({"k" * 1_000_000: 1}))
    assert run_command_line(["validate", "long.json"]) == 2
    assert len(capsys.readouterr().err) < 2000


@pytest.mark.slow(0.5)
@pytest.mark.timeout(60)
def test_a_large_map_of_invalid_keys_takes_no_minutes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "".join(f"  'Key {number}': 'a'\n" for number in range(9000))
    (here / "many.yaml").write_text(f"{GOOD}Environment:\n{lines}")
    assert run_command_line(["validate", "many.yaml"]) == 2
    assert "at least 1,000 problems" in capsys.readouterr().err


def test_problems_are_annotated_at_their_lines(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / ".git").mkdir()
    assert run_command_line(["validate", "bad.yaml", "--ci", "github"]) == 2
    assert re.search("^::error .*file=bad.yaml,line=6", capsys.readouterr().err, re.MULTILINE)


def test_the_hook_takes_job_files_and_names_a_command() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"].split() == ["smlocal", "validate"]
    names = {
        "job.yaml": True,
        "a/train-job.json": True,
        "jobs.yaml": False,
        "a/job.yaml.txt": False,
        "myjob.yaml": False,
    }
    assert {name: bool(re.search(hook["files"], name)) for name in names} == names


@pytest.mark.slow(11)
def test_ten_thousand_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(yaml.safe_load(GOOD))  # JSON is read much faster
    names = [f"{number}.yaml" for number in range(10_000)]
    for name in names:
        (here / name).write_text(text if name != "77.yaml" else "TrainingJobName: [\n")
    assert run_command_line(["validate", *names]) == 2
    said = capsys.readouterr().err
    assert said.count("error: ") == 1
    assert said.splitlines()[-1] == "10,000 files: 1 not valid"


@pytest.mark.slow(20)
def test_ten_thousand_wrong_files_are_a_few_pages(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = json.dumps({**yaml.safe_load(GOOD), "Key": 1})
    far = json.dumps({**yaml.safe_load(GOOD), "Local": {"Code": "./missing"}})
    for number in range(5_000):
        (here / f"wrong-{number}.json").write_text(wrong)
        (here / f"far-{number}.json").write_text(far)
    names = [path.name for path in here.glob("*-*.json")]
    assert run_command_line(["validate", *names]) == 2
    said = capsys.readouterr().err
    assert len(said) < 30_000
    assert (said.count("error: "), said.count("warning: ")) == (30, 30)
    assert said.splitlines()[-3:] == [
        "… and 4,970 more warnings (--json shows all)",
        "… and 4,970 more files that are not valid (--json shows all)",
        "10,000 files: 5,000 not valid",
    ]
    assert run_command_line(["validate", "--json", *names]) == 2
    files = json.loads(capsys.readouterr().out)["Validation"]["Files"]
    assert sum("Problems" in file for file in files) == sum("Warnings" in file for file in files) == 5_000


@pytest.mark.parametrize("command", ["validate", "run", "plan"])
def test_a_path_that_the_own_file_does_not_allow(command: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "limited.yaml").write_text(f"Local:\n  AllowedPaths: [/srv, /mnt/data]\n  Output: {here}/out\n{GOOD}")
    assert run_command_line([command, "limited.yaml"]) == 2
    sentence, *rest = capfd.readouterr().err.splitlines()
    assert sentence.startswith("error: this job may not use the path './data' of this machine ")
    assert rest == [
        "  limited.yaml:2   Local.AllowedPaths allows /srv, /mnt/data",
        "  Add the folder to Local.AllowedPaths, or name one that is in it.",
        "  More: smlocal help path-not-allowed",
        *(["not valid"] if command == "validate" else []),
    ]


@pytest.mark.usefixtures("here")
def test_a_name_that_no_bucket_can_have(capsys: pytest.CaptureFixture[str]) -> None:
    Path("buckets.yaml").write_text(f"Local:\n  AllowedBuckets: [fine, 's3://fine/key']\n{GOOD}")
    assert run_command_line(["validate", "buckets.yaml"]) == 2
    said = "buckets.yaml:2   Local.AllowedBuckets: no bucket is named 's3://fine/key'; write it without s3://"
    assert said in capsys.readouterr().err

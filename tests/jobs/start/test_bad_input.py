"""Bad input gets a clear answer, the right exit code, and leaves no job behind."""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kit import Run


@pytest.fixture
def job(tmp_path: Path, image: Callable[[str], str]) -> dict[str, Any]:
    """A good request, to be spoilt by each test; written by `save`."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1\n")
    return {
        "TrainingJobName": "bad-input",
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "HyperParameters": {},
        "Environment": {"SCRIPT": "true"},
        "InputDataConfig": [
            {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}}
        ],
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    }


@pytest.fixture
def refused(tmp_path: Path, smlocal_run: Run, assert_nothing_left: Callable[[str], None]) -> Run:
    """Runs what must be refused: the id and the words are on stderr, no job was made, nothing was left."""

    def run(job: dict[str, Any] | str, *words: str, error: str, code: int = 2, flags: tuple[str, ...] = ()) -> Any:
        (tmp_path / "job.yaml").write_text(job if isinstance(job, str) else yaml.safe_dump(job, sort_keys=False))
        done = smlocal_run("run", "job.yaml", *flags, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert f"[{error}]" in done.stderr
        assert "Traceback" not in done.stderr
        for word in words:
            assert word in done.stderr
        assert smlocal_run("jobs", "--json").stdout.strip() == '{\n  "TrainingJobSummaries": []\n}'
        assert_nothing_left("bad-input")
        return done

    return run


def test_yaml_that_does_not_parse(refused: Any) -> None:
    refused("TrainingJobName: [unclosed\n", "job.yaml:", error="job-file-syntax")


def test_a_job_file_that_is_none(smlocal_run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "large.yaml").write_bytes(b"#" * (10 << 20) + b"\n")
    (tmp_path / "latin.yaml").write_bytes(b"TrainingJobName: a\nRoleArn: \xe4\n")
    for name, words in {
        "fifo": "the job file fifo is not a regular file",
        "/dev/zero": "the job file /dev/zero is not a regular file",
        "folder": "the job file folder is a folder",
        "large.yaml": "large.yaml is too large for a request: more than 10 MiB",
        "latin.yaml": "latin.yaml is not UTF-8 text",
    }.items():
        done = smlocal_run("run", name, cwd=tmp_path)
        assert done.returncode == 2
        assert words in done.stderr
        assert "Errno" not in done.stderr
        assert ("[job-file-syntax]" in done.stderr) == name.endswith(".yaml")
    assert "latin.yaml:2 " in done.stderr


def test_an_unknown_key(refused: Any, job: dict[str, Any]) -> None:
    job["HyperParamters"] = {}
    refused(job, "HyperParamters", "HyperParameters", "job.yaml:", error="request-invalid")


def test_a_name_with_an_underscore(refused: Any, job: dict[str, Any]) -> None:
    job["TrainingJobName"] = "my_job"
    refused(job, "job.yaml:1", "'my_job' at 'trainingJobName'", error="request-invalid")


def test_too_many_hyperparameters(refused: Any, job: dict[str, Any]) -> None:
    job["HyperParameters"] = {f"p{n}": "1" for n in range(101)}
    refused(job, "hyperParameters", "less than or equal to 100", error="request-invalid")


@pytest.mark.parametrize("value", [3, 0.5, True, {"nested": "1"}, ["1"]])
def test_a_hyperparameter_that_is_not_a_string(refused: Any, job: dict[str, Any], value: object) -> None:
    job["HyperParameters"] = {"epochs": value}
    refused(job, "epochs", error="request-invalid")


def test_two_channels_of_one_name(refused: Any, job: dict[str, Any]) -> None:
    job["InputDataConfig"] *= 2
    refused(job, "train", error="request-invalid")


def test_several_problems_are_told_together(refused: Any, job: dict[str, Any]) -> None:
    job["TrainingJobName"] = "my_job"
    job["ResourceConfig"]["InstanceType"] = "ml.m5.larg"
    done = refused(job, "my_job", "ml.m5.larg", "ml.m5.large", error="request-invalid")
    assert "2 problems" in done.stderr


def test_a_channel_path_that_does_not_exist(refused: Any, job: dict[str, Any]) -> None:
    job["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] = "./dataa"
    refused(job, 'channel "train"', "./dataa does not exist", "./data", error="source-missing")


def test_an_empty_channel(refused: Any, job: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "data" / "a.csv").unlink()
    refused(job, 'No S3 objects found under S3 URL "./data" given in input data source', error="source-empty")


def test_a_file_system_without_a_folder(refused: Any, job: dict[str, Any]) -> None:
    source = {
        "FileSystemId": "fs-01234567",
        "FileSystemType": "EFS",
        "FileSystemAccessMode": "ro",
        "DirectoryPath": "/",
    }
    job["InputDataConfig"][0]["DataSource"] = {"FileSystemDataSource": source}
    refused(job, "fs-01234567", "Sources", error="source-unmapped")


def test_an_output_path_that_is_a_file(refused: Any, job: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    refused(job, "./out", error="output-unusable")


def test_an_output_path_that_is_a_dangling_link(refused: Any, job: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("nowhere")
    refused(job, f"{tmp_path}/out is a broken link", error="output-unusable")


@pytest.mark.parametrize("flags", [(), ("--output", "http://x/y")])
def test_an_output_uri_of_another_scheme(refused: Any, job: dict[str, Any], flags: tuple[str, ...]) -> None:
    if not flags:
        job["OutputDataConfig"]["S3OutputPath"] = "http://x/y"
    refused(job, "http://x/y", error="request-invalid", flags=flags)
    job["OutputDataConfig"]["S3OutputPath"] = "s3://bucket/out"
    job["Local"] = {"Output": "gs://x/y"}
    if not flags:
        refused(job, "gs://x/y is not a local folder", error="output-unusable")


def test_output_on_this_host(job: dict[str, Any], tmp_path: Path, smlocal_run: Run) -> None:
    job["OutputDataConfig"]["S3OutputPath"] = f"file://localhost{tmp_path}/zz"
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    planned = json.loads(smlocal_run("plan", "job.yaml", "--json", cwd=tmp_path).stdout)
    assert planned["Output"]["Directory"] == f"{tmp_path}/zz/bad-input/output"


def test_a_member_that_is_refused(refused: Any, job: dict[str, Any]) -> None:
    job["AlgorithmSpecification"] = {"AlgorithmName": "abc", "TrainingInputMode": "File"}
    refused(job, "AlgorithmSpecification.AlgorithmName", error="field-refused")


@pytest.mark.parametrize(("count", "most"), [(33, "Local.MaxHosts is 32"), (10_000, "the maximum is 1000")])
def test_more_hosts_than_a_machine_can_play(refused: Any, job: dict[str, Any], count: int, most: str) -> None:
    job["ResourceConfig"]["InstanceCount"] = count
    refused(job, f"{count} hosts", most, error="too-many-hosts", code=3)


@pytest.mark.parametrize("path", ["state", "/opt/ml", "/opt/ml/input/data/train"])
def test_a_place_where_no_checkpoints_can_lie(refused: Any, job: dict[str, Any], path: str) -> None:
    job["CheckpointConfig"] = {"S3Uri": "./checkpoints", "LocalPath": path}
    refused(job, "CheckpointConfig.LocalPath", path, error="field-refused")


def test_a_checkpoint_prefix_that_is_a_file(refused: Any, job: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "checkpoints").write_text("")
    job["CheckpointConfig"] = {"S3Uri": "./checkpoints"}
    refused(job, "./checkpoints", error="output-unusable")


def test_strict_refuses_what_is_only_good_here(refused: Any, job: dict[str, Any]) -> None:
    refused(job, "roleArn", error="request-invalid", flags=("--strict",))


def test_an_image_that_is_not_here(refused: Any, job: dict[str, Any]) -> None:
    job["AlgorithmSpecification"]["TrainingImage"] = "smlocal-never-made:latest"
    refused(job, "smlocal-never-made:latest", error="image-missing", code=3, flags=("--pull", "never"))


def test_an_image_for_another_processor(
    refused: Any, job: dict[str, Any], docker: Callable[..., str], tmp_path: Path
) -> None:
    other = "arm64" if os.uname().machine == "x86_64" else "amd64"
    docker("load", "--input", str(_image_for(other, tmp_path)))
    job["AlgorithmSpecification"]["TrainingImage"] = "smlocal-image:other-processor"
    refused(job, f"linux/{other}", "--platform", error="image-architecture", code=3)


def _image_for(architecture: str, folder: Path) -> Path:
    """An empty image that says it is for `architecture`, as `docker save` writes it."""
    layer = io.BytesIO()
    tarfile.open(fileobj=layer, mode="w").close()
    config = {
        "architecture": architecture,
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer.getvalue()).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": ["smlocal-image:other-processor"], "Layers": ["layer.tar"]}]
    path = folder / "image.tar"
    with tarfile.open(path, "w") as archive:
        for name, content in (
            ("manifest.json", json.dumps(manifest).encode()),
            ("config.json", json.dumps(config).encode()),
            ("layer.tar", layer.getvalue()),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_a_gpu_instance_on_an_engine_without_gpus(refused: Any, job: dict[str, Any]) -> None:
    job["ResourceConfig"]["InstanceType"] = "ml.g4dn.xlarge"
    refused(job, "ml.g4dn.xlarge", "--allow-cpu", "could not select device driver", error="gpu-unavailable", code=3)


def test_allow_cpu_runs_it_and_stands_in_the_result(job: dict[str, Any], tmp_path: Path, smlocal_run: Run) -> None:
    job["ResourceConfig"]["InstanceType"] = "ml.g4dn.xlarge"
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    done = smlocal_run("run", "job.yaml", "--allow-cpu", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["Local"]["AllowCpu"] is True


@pytest.mark.slow(1)
def test_a_name_is_used_once(job: dict[str, Any], tmp_path: Path, smlocal_run: Run) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    assert smlocal_run("run", "job.yaml", cwd=tmp_path).returncode == 0
    again = smlocal_run("run", "job.yaml", cwd=tmp_path)
    assert again.returncode == 2
    for word in ("[name-in-use]", "ResourceInUse", "--name", "--replace"):
        assert word in again.stderr
    replaced = smlocal_run("run", "job.yaml", "--replace", "--json", cwd=tmp_path)
    assert replaced.returncode == 0, replaced.stderr
    assert len(json.loads(smlocal_run("jobs", "--json").stdout)["TrainingJobSummaries"]) == 1


def test_a_job_that_nobody_made(smlocal_run: Run) -> None:
    for command in ("describe", "logs", "rm"):
        done = smlocal_run(command, "never-made")
        assert done.returncode == 2
        assert "Requested resource not found." in done.stderr


def test_an_error_is_one_document_where_documents_are_expected(smlocal_run: Run) -> None:
    done = smlocal_run("describe", "never-made", "--json")
    assert json.loads(done.stdout)["Error"]["Id"] == "job-unknown"


def test_no_engine(job: dict[str, Any], tmp_path: Path, smlocal_run: Run) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    done = smlocal_run("run", "job.yaml", cwd=tmp_path, env={"DOCKER_HOST": f"unix://{tmp_path}/none.sock"})
    assert done.returncode == 3
    assert "[engine-unreachable]" in done.stderr
    assert "none.sock" in done.stderr


def test_a_home_that_cannot_be_used(job: dict[str, Any], tmp_path: Path, smlocal_run: Run) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    (tmp_path / "file").write_text("")
    done = smlocal_run("run", "job.yaml", cwd=tmp_path, env={"SMLOCAL_HOME": f"{tmp_path}/file/home"})
    assert done.returncode == 3
    assert "[home-unusable]" in done.stderr


def test_wrong_flags(smlocal_run: Run) -> None:
    for arguments in (("run",), ("run", "--nonsense"), ("rum",), ("run", "--image", "i", "--channel", "x")):
        done = smlocal_run(*arguments)
        assert done.returncode == 2
    assert "--channel x: write NAME=PATH" in done.stderr
    assert "Did you mean 'rm' or 'run'?" in smlocal_run("rum").stderr
    assert "Did you mean 'describe'?" in smlocal_run("describ").stderr

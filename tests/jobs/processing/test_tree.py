"""What a processing container finds, and what becomes of what it writes."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.jobs.processing.conftest import ROOT, an_input, an_output

Clean = Callable[[str], None]


@pytest.mark.slow(2)
def test_a_container_has_the_files_of_the_service(processing: Any, life: Any, assert_nothing_left: Clean) -> None:
    (life.folder / "data").mkdir()
    (life.folder / "data" / "a.csv").write_text("1,2\n")
    script = f"""
    cat /opt/ml/config/processingjobconfig.json; echo
    cat /opt/ml/config/resourceconfig.json; echo
    cat {ROOT}/data/a.csv
    echo changed > {ROOT}/data/a.csv
    ls -d {ROOT}/train /opt/ml/output
    env | grep -c -e TRAINING_JOB -e SM_ || true
    echo "$AWS_REGION $GIVEN"
    mkdir {ROOT}/train/sub
    echo x > {ROOT}/train/sub/x
    ln -s /etc/passwd {ROOT}/train/link
    echo done > /opt/ml/output/message
    """
    answer = processing.run_job(
        "processing-tree",
        script,
        inputs=[an_input("data", "./data")],
        outputs=[an_output("train")],
        Environment={"GIVEN": "yes"},
        RoleArn="arn:aws:iam::111122223333:role/any",
    )
    assert answer["ProcessingJobStatus"] == "Completed", answer
    job, resources, *rest = life.log("processing-tree").splitlines()
    assert json.loads(resources) == {"current_host": "algo-1", "hosts": ["algo-1"]}
    assert rest == ["1,2", "/opt/ml/output", f"{ROOT}/train", "0", "us-east-1 yes"]
    config = json.loads(job)
    arn = "arn:aws:sagemaker:us-east-1:111122223333:processing-job/processing-tree"
    assert [*config] == [
        *("ProcessingJobArn", "ProcessingJobName", "AppSpecification", "Environment", "ProcessingInputs"),
        *("ProcessingOutputConfig", "ProcessingResources", "RoleArn", "StoppingCondition"),
    ]
    assert config["ProcessingJobArn"] == arn == answer["ProcessingJobArn"]
    assert config["AppSpecification"]["ContainerArguments"] is None
    assert config["ProcessingInputs"][1] == {
        "InputName": "data",
        "S3Input": {
            "LocalPath": f"{ROOT}/data",
            "S3Uri": "./data",
            "S3DataDistributionType": "FullyReplicated",
            "S3DataType": "S3Prefix",
            "S3InputMode": "File",
            "S3CompressionType": "None",
            "S3DownloadMode": "StartOfJob",
        },
    }
    assert config["StoppingCondition"] == {"MaxRuntimeInSeconds": 86400}
    assert answer["ExitMessage"] == "done\n"
    assert processing.files() == {"train/sub/x": "x\n"}
    assert (life.folder / "data" / "a.csv").read_text() == "1,2\n"
    assert any("a link" in note for note in answer["Local"]["Artifacts"]["Notes"])
    assert_nothing_left("processing-tree")


@pytest.mark.slow(2)
def test_the_program_is_that_of_the_image_or_of_the_request(processing: Any, life: Any) -> None:
    app = {"ImageUri": life.image}
    request = json.loads(processing.job_file("processing-own", "true").read_text())
    for name, given, says in (
        ("processing-entry", {"ContainerEntrypoint": ["echo", "from-entrypoint"]}, "from-entrypoint"),
        ("processing-words", {"ContainerArguments": ["echo", "from-arguments"]}, "from-arguments"),
        ("processing-both", {"ContainerEntrypoint": ["echo"], "ContainerArguments": ["a", "b"]}, "a b"),
    ):
        request |= {"ProcessingJobName": name, "AppSpecification": {**app, **given}}
        (life.folder / "job.json").write_text(json.dumps(request))
        done = life("run", "job.json")
        assert done.returncode == 0, done.stderr
        assert life.log(name) == f"{says}\n"


@pytest.mark.slow(2)
def test_an_input_in_an_input_and_an_output_in_one(processing: Any, life: Any, assert_nothing_left: Clean) -> None:
    (life.folder / "data").mkdir()
    (life.folder / "data" / "a").write_text("a")
    script = f"cat {ROOT}/data/a {ROOT}/data/code/run.sh > {ROOT}/data/out/both; ls {ROOT}/data"
    path = processing.job_file(
        "processing-nested",
        script,
        inputs=[an_input("data", "./data")],
        outputs=[an_output("o", path=f"{ROOT}/data/out")],
    )
    request = json.loads(path.read_text())
    request["ProcessingInputs"][0]["S3Input"]["LocalPath"] = f"{ROOT}/data/code"
    request["AppSpecification"]["ContainerEntrypoint"][1] = f"{ROOT}/data/code/run.sh"
    path.write_text(json.dumps(request))
    done = life("run", path)
    assert done.returncode == 0, done.stderr
    assert life.log("processing-nested") == "a\ncode\nout\n"
    assert processing.files()["o/both"].startswith("aset -eu\n")
    assert_nothing_left("processing-nested")


@pytest.mark.slow(3)
def test_several_hosts_get_their_shards_and_write_side_by_side(
    processing: Any, life: Any, assert_nothing_left: Clean
) -> None:
    (life.folder / "data").mkdir()
    for name in ("a", "b", "c"):
        (life.folder / "data" / name).write_text(name)
    script = f"""
    cp -r {ROOT}/data/. {ROOT}/parts/
    me=$(grep -o 'current_host":"algo-[0-9]' /opt/ml/config/resourceconfig.json | cut -d'"' -f3)
    echo $me > {ROOT}/parts/$me
    printf $me > /opt/ml/output/message
    """
    answer = processing.run_job(
        "processing-hosts",
        script,
        hosts=2,
        inputs=[an_input("data", "./data", S3DataDistributionType="ShardedByS3Key")],
        outputs=[an_output("parts")],
    )
    assert answer["ProcessingJobStatus"] == "Completed", answer
    assert answer["ExitMessage"] == "algo-1algo-2"
    assert processing.files() == {
        "parts/a": "a",
        "parts/b": "b",
        "parts/c": "c",
        "parts/algo-1": "algo-1\n",
        "parts/algo-2": "algo-2\n",
    }
    assert_nothing_left("processing-hosts")


@pytest.mark.slow(2)
def test_pipes_and_manifests(processing: Any, life: Any, assert_nothing_left: Clean) -> None:
    data = life.folder / "data"
    data.mkdir()
    for name in ("a", "b", "c"):
        (data / name).write_text(name)
    manifest = life.folder / "some.manifest"
    manifest.write_text(json.dumps([{"prefix": f"{data}/"}, "a", "c"]))
    answer = processing.run_job(
        "processing-pipe",
        f"cat {ROOT}/stream_0; echo; ls {ROOT}/some",
        inputs=[
            an_input("stream", "./data", S3InputMode="Pipe"),
            an_input("some", "./some.manifest", S3DataType="ManifestFile"),
        ],
    )
    assert answer["ProcessingJobStatus"] == "Completed", answer
    assert life.log("processing-pipe") == "abc\na\nc\n"
    assert_nothing_left("processing-pipe")


@pytest.mark.slow(2)
def test_a_continuous_output_is_there_before_the_end(processing: Any, life: Any, assert_nothing_left: Clean) -> None:
    processing.detach(
        "processing-mirror",
        f"echo now > {ROOT}/live/file; echo later > {ROOT}/late/file\n"
        "until [ -e /opt/ml/output/go ]; do sleep 0.1; done",
        outputs=[an_output("live", S3UploadMode="Continuous"), an_output("late")],
    )
    life.until(lambda: processing.files() == {"live/file": "now\n"})
    life.let_go("processing-mirror")
    assert life("wait", "processing-mirror").returncode == 0
    assert processing.files() == {"late/file": "later\n", "live/file": "now\n"}
    assert_nothing_left("processing-mirror")


@pytest.mark.slow(2)
def test_an_output_in_s3_stays_here_until_it_is_published(processing: Any, life: Any) -> None:
    answer = processing.run_job(
        "processing-here",
        f"echo x > {ROOT}/o/x; echo y > {ROOT}/mapped/y",
        outputs=[an_output("o", "s3://some-bucket/o"), an_output("mapped", "s3://mapped-bucket/below/it")],
        local={"Sources": {"s3://mapped-bucket": "./bucket"}},
    )
    assert processing.files("smlocal-output/processing-here") == {"o/x": "x\n"}
    assert processing.files("bucket") == {"below/it/y": "y\n"}
    assert {each["Name"]: each["Directory"] for each in answer["Local"]["Outputs"]} == {
        "o": str(life.folder / "smlocal-output" / "processing-here" / "o"),
        "mapped": str(life.folder / "bucket" / "below" / "it"),
    }
    assert [(each["Files"], each["Bytes"], each["AllCounted"]) for each in answer["Local"]["Outputs"]] == [
        (1, 2, True),
        (1, 2, True),
    ]

"""From records to answers, in every way that a request can say, and nothing that is left."""

import gzip
import io
import json
import struct
import tarfile
from collections.abc import Callable
from typing import Any

import pytest

Clean = Callable[[str], None]


def test_a_folder_is_transformed(transforms: Any, life: Any, assert_nothing_left: Clean) -> None:
    transforms.data({"x.csv": "a\nb\n", "sub/y.csv": "c", "empty.csv": ""})
    done = transforms.run("transform-folder", output={"AssembleWith": "Line"})
    assert done.returncode == 0, done.stderr
    assert transforms.output() == {"x.csv.out": "A\nB\n", "sub/y.csv.out": "C\n", "empty.csv.out": ""}
    assert "Transforming" in done.stderr
    assert "[sagemaker logs]: MaxConcurrentTransforms=1, MaxPayloadInMB=6, BatchStrategy=MULTI_RECORD" in done.stdout

    described = life.describe("transform-folder")
    assert described["TransformJobStatus"] == "Completed"
    assert described["CreationTime"] <= described["TransformStartTime"] <= described["TransformEndTime"]
    found = described["Local"]["Transform"]
    assert (found["Objects"], found["Outputs"], found["Requests"], found["Failed"]) == (3, 3, 2, [])
    assert life.log("transform-folder") == "serving\n"
    logs = life("logs", "transform-folder").stdout
    assert "algo-1" in logs
    assert "data-log" in logs
    listed = json.loads(life("jobs", "--json").stdout)
    assert [each["TransformJobStatus"] for each in listed["TransformJobSummaries"]] == ["Completed"]
    assert "Output" in life("describe", "transform-folder").stdout
    assert_nothing_left("transform-folder")
    assert life("rm", "transform-folder").returncode == 0
    assert transforms.output()["x.csv.out"] == "A\nB\n"


def test_what_the_container_gets(transforms: Any, life: Any) -> None:
    """The environment that the guide lists, the model, and the headers of each request."""
    with tarfile.open(life.folder / "model.tar.gz", "w:gz") as file:
        info = tarfile.TarInfo("weights.txt")
        info.size = 2
        file.addfile(info, io.BytesIO(b"42"))
    transforms.data({"x.csv": "a\n"})
    path = transforms.job_file(
        "transform-seen",
        MaxPayloadInMB=2,
        MaxConcurrentTransforms=3,
        BatchStrategy="SingleRecord",
        Environment={"ANSWER": "seen", "OWN": "of the job"},
        output={"Accept": "application/json"},
    )
    request = json.loads(path.read_text())
    request["PrimaryContainer"] |= {"ModelDataUrl": "./model.tar.gz", "Environment": {"OWN": "of the model", "B": "b"}}
    path.write_text(json.dumps(request))
    plan = json.loads(life("plan", path, "--json").stdout)
    assert plan["Hosts"][0]["Environment"]["SAGEMAKER_BATCH_STRATEGY"] == "SINGLE_RECORD"
    assert life("validate", path).returncode == 0
    done = life("run", path)
    assert done.returncode == 0, done.stderr
    seen = json.loads(transforms.output()["x.csv.out"])
    assert seen["body"] == "a\n"
    headers = seen["headers"]
    assert (headers["content-type"], headers["accept"]) == ("text/csv", "application/json")
    expected = {
        "SAGEMAKER_BATCH": "true",
        "SAGEMAKER_MAX_PAYLOAD_IN_MB": "2",
        "SAGEMAKER_BATCH_STRATEGY": "SINGLE_RECORD",
        "SAGEMAKER_MAX_CONCURRENT_TRANSFORMS": "3",
        "OWN": "of the job",
        "B": "b",
    }
    assert expected.items() <= seen["environment"].items()


def test_without_a_value_in_the_request_none_is_told(transforms: Any) -> None:
    transforms.data({"x.csv": "a\n"})
    seen = json.loads(transforms.completed("transform-untold", variables={"ANSWER": "seen"})["x.csv.out"])
    told = {name for name in seen["environment"] if name.startswith("SAGEMAKER_")}
    assert told == {"SAGEMAKER_BATCH", "SAGEMAKER_BIND_TO_PORT", "SAGEMAKER_SAFE_PORT_RANGE"}


def test_the_container_says_how_it_is_used(transforms: Any) -> None:
    transforms.data({"x.csv": "a\nb\nc\n"})
    said = {"MaxConcurrentTransforms": 2, "BatchStrategy": "SINGLE_RECORD", "MaxPayloadInMB": 1}
    variables = {"PARAMETERS": json.dumps(said), "ANSWER": "sizes"}
    output = transforms.completed("transform-said", variables=variables)
    assert [line.split()[0] for line in output["x.csv.out"].splitlines()] == ["2", "2", "2"]
    assert transforms.data_log("transform-said")[0] == (
        "MaxConcurrentTransforms=2, MaxPayloadInMB=1, BatchStrategy=SINGLE_RECORD"
    )


def test_the_request_counts_more_than_the_container(transforms: Any) -> None:
    transforms.data({"x.csv": "a\nb\n"})
    variables = {"PARAMETERS": '{"BatchStrategy": "SINGLE_RECORD", "MaxPayloadInMB": "no"}', "ANSWER": "sizes"}
    output = transforms.completed("transform-asked", variables=variables, BatchStrategy="MultiRecord")
    assert output["x.csv.out"].split()[0] == "4"


def test_answers_are_in_the_order_of_the_records(transforms: Any) -> None:
    """The server answers the first one only when the second one is there."""
    transforms.data({"x.csv": "a\nb\nc\n"})
    output = transforms.completed(
        "transform-order", variables={"ANSWER": "late"}, BatchStrategy="SingleRecord", MaxConcurrentTransforms=2
    )
    assert output["x.csv.out"] == "A\nB\nC\n"


def test_mini_batches_fill_the_payload(transforms: Any) -> None:
    transforms.data({"x.csv": ("x" * 99 + "\n") * 25_000})
    output = transforms.completed("transform-batches", variables={"ANSWER": "sizes"}, MaxPayloadInMB=1)
    sizes = [int(line.split()[0]) for line in output["x.csv.out"].splitlines()]
    assert (sum(sizes), len(sizes)) == (2_500_000, 3)
    assert sizes[0] == (1 << 20) // 100 * 100


@pytest.mark.slow(2)
def test_binary_records_and_compressed_objects(transforms: Any) -> None:
    head = struct.pack("<II", 0xCED7230A, 3)
    transforms.data({"r.rec": head + b"one\0" + head + b"two\0"})
    records = {"source": {"SplitType": "RecordIO"}, "BatchStrategy": "SingleRecord"}
    assert transforms.completed("transform-recordio", **records)["r.rec.out"] == "ONETWO"
    transforms.data({"r.rec": gzip.compress(b"a\nb\n")})
    gzipped = {"source": {"CompressionType": "Gzip"}, "output": {"AssembleWith": "None"}}
    assert transforms.completed("transform-gzip", **gzipped)["r.rec.out"] == "A\nB\n"
    transforms.data({"r.rec": b"not compressed"})
    assert transforms.run("transform-no-gzip", **gzipped).returncode == 1


def test_a_whole_object_is_streamed(transforms: Any) -> None:
    transforms.data({"x.bin": "x" * 3_000_000})
    whole = {"source": {"SplitType": "None"}, "variables": {"ANSWER": "sizes"}}
    assert transforms.completed("transform-chunks", MaxPayloadInMB=0, **whole)["x.bin.out"].split()[0] == "3000000"


@pytest.mark.slow(1)
def test_records_are_filtered_and_joined(transforms: Any) -> None:
    transforms.data({"x.csv": "id1,a\nid2,b\n"})
    processing = {"InputFilter": "$[1:]", "JoinSource": "Input", "OutputFilter": "$[0,-1]"}
    output = transforms.completed("transform-joined", DataProcessing=processing, output={"AssembleWith": "Line"})
    assert output["x.csv.out"] == "id1,A\nid2,B\n"
    transforms.data({"x.csv": '{"id":1,"text":"abc"}\n{"id":2,"text":"d"}\n'})
    lines = {"ContentType": "application/jsonlines"}
    output = transforms.completed(
        "transform-documents",
        source=lines,
        output={"Accept": "application/jsonlines", "AssembleWith": "Line"},
        variables={"ANSWER": "json"},
        DataProcessing={"InputFilter": "$.text", "JoinSource": "Input", "OutputFilter": "$['id','SageMakerOutput']"},
    )
    assert [json.loads(line) for line in output["x.csv.out"].splitlines()] == [
        {"id": 1, "SageMakerOutput": {"length": 5}},
        {"id": 2, "SageMakerOutput": {"length": 3}},
    ]


def test_a_manifest_and_a_mapped_bucket(transforms: Any, life: Any) -> None:
    transforms.data({"in/a.csv": "a\n", "in/deep/b.csv": "b\n", "in/c.csv": "c\n"})
    manifest = json.dumps([{"prefix": "s3://bucket/in/"}, "a.csv", "deep/b.csv"])
    transforms.data({"list.manifest": manifest})
    local = {"Sources": {"s3://bucket": "./data"}, "Output": "./out"}
    output = transforms.completed(
        "transform-manifest",
        objects={"S3DataType": "ManifestFile", "S3Uri": "s3://bucket/list.manifest"},
        output={"S3OutputPath": "s3://bucket/there"},
        Local=local,
    )
    assert output == {"a.csv.out": "A\n", "deep/b.csv.out": "B\n"}
    notes = {note["Id"] for note in life.describe("transform-manifest")["Local"]["Notes"]}
    assert "output-local" in notes


def test_an_object_that_fails_has_no_output_and_others_go_on(
    transforms: Any, life: Any, assert_nothing_left: Clean
) -> None:
    transforms.data(
        {"a.csv": "a\n", "bad.csv": "a\nbad\n", "c.csv": "c\n", "once.csv": "once\n", "worse.csv": "worse\n"}
    )
    transforms.data({"blank.csv": "\n\r\n"})
    done = transforms.run("transform-bad", BatchStrategy="SingleRecord")
    assert done.returncode == 1
    output = {"a.csv.out": "A\n", "c.csv.out": "C\n", "once.csv.out": "ONCE\n"}
    assert transforms.output() == {**output, "blank.csv.out": "\n\n"}
    causes = [
        "bad.csv, record 2: the container answered 400: no such feature in this line",
        "worse.csv, record 1: the container answered 500: cannot",
    ]
    assert f"  because   {causes[0]}\n  output    " in done.stderr
    assert f"\n  failed    {causes[1]}\n" in done.stderr
    assert "  note      blank.csv has only blank lines, which were sent as records" in done.stderr
    assert causes[1] in life("describe", "transform-bad").stdout
    assert life.job("transform-bad").failure_reason == "ClientError: See job logs for more information"
    bad = str(life.folder / "data" / "bad.csv")
    worse = str(life.folder / "data" / "worse.csv")
    assert transforms.data_log("transform-bad")[1:] == [
        f"{bad}: ClientError: 400",
        f"{bad}: ",
        f"{bad}: Message:",
        f"{bad}: no such feature",
        f"{bad}: in this line",
        f"{worse}: Bad HTTP status received from algorithm: 500",
        f"{worse}: ",
        f"{worse}: Message:",
        f"{worse}: cannot",
    ]
    told = life.describe("transform-bad")["Local"]["Transform"]
    assert (told["Failed"], told["Causes"]) == ([bad, worse], causes)
    assert (told["RecordsRead"], told["LinesWritten"], told["Requests"]) == (8, 5, 6)
    assert (told["BytesRead"], told["BytesWritten"]) == (24, 12)
    assert told["Retries"] == 1 + 3  # that of once, and all of worse
    page = life("report", "transform-bad", "--html", "-").stdout
    for words in ("8 in, 5 lines out", "24 B in, 12 B out", *causes):
        assert words in page
    assert_nothing_left("transform-bad")


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(
    ("name", "line", "members", "logged", "reason"),
    [
        ("transform-closes", "broken", {}, "Unable to get response from algorithm", "AlgorithmError"),
        (
            "transform-mute",
            "mute",
            {"ModelClientConfig": {"InvocationsTimeoutInSeconds": 1, "InvocationsMaxRetries": 0}},
            "Model server did not respond to /invocations request within 1 seconds",
            "AlgorithmError",
        ),
        (
            "transform-large",
            "x" * (1 << 20),
            {"MaxPayloadInMB": 1},
            "Too much data for max payload size",
            "ClientError",
        ),
        (
            "transform-mismatch",
            "mismatch",
            {"DataProcessing": {"JoinSource": "Input"}},
            "Failed to join the output to the input: 1 records were sent, and 2 came back",
            "ClientError",
        ),
    ],
)
def test_failures_are_said_in_the_data_log(
    transforms: Any, life: Any, name: str, line: str, members: Any, logged: str, reason: str
) -> None:
    transforms.data({"x.csv": f"{line}\n"})
    assert transforms.run(name, **members).returncode == 1
    assert transforms.data_log(name)[1:] == [f"{life.folder}/data/x.csv: {logged}"]
    assert life.job(name).failure_reason == f"{reason}: See job logs for more information"


def test_a_server_that_does_not_read_a_large_request_says_so(transforms: Any) -> None:
    transforms.data({"x.csv": "x" * 3_000_000})
    assert transforms.run("transform-unread", variables={"LIMIT": "1000"}).returncode == 1
    assert transforms.data_log("transform-unread")[1].endswith("x.csv: ClientError: 413")


def test_the_plan_needs_no_image(transforms: Any, life: Any) -> None:
    transforms.data({"x.csv": "a\n"})
    path = transforms.job_file("transform-planned", PrimaryContainer={"Image": "absent.example/image:1"})
    plan = life("plan", path)
    assert plan.returncode == 0, plan.stderr
    assert "absent.example/image:1" in plan.stdout
    script = life("plan", path, "--script")
    assert (script.returncode, "smlocal sends its records while the container runs" in script.stderr) == (2, True), (
        script.stderr
    )


@pytest.mark.parametrize("ping", ["never", "500"])
def test_a_container_that_is_never_healthy_fails_the_job(
    transforms: Any, life: Any, ping: str, assert_nothing_left: Clean
) -> None:
    transforms.data({"x.csv": "a\n"})
    name = f"transform-ping-{ping}"
    done = transforms.run(name, variables={"PING": ping}, Local={"Serving": {"StartupSeconds": 1}})
    assert done.returncode == 1
    assert life.job(name).failure_reason == (
        "AlgorithmError: Model container failed to respond to ping. Please ensure /ping endpoint is implemented and "
        "responds with an HTTP 200 status code"
    )
    assert_nothing_left(name)


def test_a_container_that_ends_fails_the_job(transforms: Any, life: Any, assert_nothing_left: Clean) -> None:
    transforms.data({"x.csv": "dead\n"})
    done = transforms.run("transform-dead")
    assert done.returncode == 1
    assert "exit code 3" in done.stderr
    assert life.job("transform-dead").failure_reason == "AlgorithmError: See job logs for more information"
    assert_nothing_left("transform-dead")


def test_a_container_that_lacks_a_module_is_told_so(transforms: Any, life: Any, assert_nothing_left: Clean) -> None:
    transforms.data({"x.csv": "a\n"})
    done = transforms.run("transform-lacks", variables={"DIES": "module"})
    assert done.returncode == 1
    (hint,) = life.describe("transform-lacks")["Local"]["Hints"]
    assert hint.startswith("The Python that ran in the container has no module pandas: install it in the Dockerfile")
    assert hint in " ".join(done.stderr.split())
    assert_nothing_left("transform-lacks")


@pytest.mark.slow(2)
def test_a_container_that_ignores_sigterm_is_told_so(transforms: Any, life: Any, assert_nothing_left: Clean) -> None:
    transforms.data({"x.csv": "a\n"})
    assert transforms.completed("transform-deaf", variables={"ON_TERM": "ignore"}) == {"x.csv.out": "A\n"}
    local = life.describe("transform-deaf")["Local"]
    assert (local["Hosts"][0]["ExitCode"], local["Hosts"][0]["Killed"]) == (137, True)
    (hint,) = local["Hints"]
    assert hint.startswith("PID 1 (")
    assert "did not end within 2 s of SIGTERM and was killed. Does it handle SIGTERM?" in hint
    assert_nothing_left("transform-deaf")


def test_what_is_wrong_makes_no_job(transforms: Any, life: Any) -> None:
    absent = transforms.run("transform-absent")
    assert (absent.returncode, "[source-missing]" in absent.stderr) == (2, True), absent.stderr
    transforms.data({"x.csv": "a\n"})
    flags = life("run", transforms.job_file("transform-flags"), "--channel", "train=./data")
    assert (flags.returncode, "which does not take --channel" in flags.stderr) == (2, True), flags.stderr
    unknown = life("run", transforms.job_file("transform-unknown", PrimaryContainer=None, ModelName="absent"))
    assert (unknown.returncode, "'absent' is not known here" in unknown.stderr) == (2, True), unknown.stderr
    assert life.store.count() == 0
    changed = life("run", transforms.job_file("transform-file"), "--name", "transform-flag", "-e", "ANSWER=sizes")
    assert changed.returncode == 0, changed.stderr
    assert transforms.output()["x.csv.out"].startswith("2 ")

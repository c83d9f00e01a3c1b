"""How processing jobs end: status, reason and message."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from tests.jobs.processing.conftest import ROOT, an_input, an_output

Clean = Callable[[str], None]


@pytest.mark.slow(2)
def test_an_exit_code_fails_the_job_and_keeps_its_outputs(processing: Any, assert_nothing_left: Clean) -> None:
    """The record fail-2026-05-13-processing."""
    answer = processing.run_job(
        "processing-fails",
        f"echo bad input > /opt/ml/output/message; echo half > {ROOT}/o/file; exit 3",
        outputs=[an_output("o")],
    )
    assert answer["ProcessingJobStatus"] == "Failed"
    assert answer["FailureReason"] == "AlgorithmError: , exit code: 3"
    assert answer["ExitMessage"] == "bad input\n"
    assert processing.files() == {"o/file": "half\n"}
    assert_nothing_left("processing-fails")


@pytest.mark.slow(1)
@pytest.mark.parametrize("program", ["nosuch", "/opt/ml/processing/nosuch"])
def test_a_program_that_is_not_there(processing: Any, program: str) -> None:
    name = f"processing-no-{'path' if '/' in program else 'name'}"
    answer = processing.run_job(name, "true", app={"ContainerEntrypoint": [program]})
    assert answer["FailureReason"] == "AlgorithmError: , exit code: 127"


@pytest.mark.slow(3)
@pytest.mark.parametrize(
    ("name", "path", "hint"),
    [
        (
            "elsewhere",
            "source/run.sh",
            f"The log names {ROOT}/source/run.sh, but no input is at {ROOT}/source. The job has",
        ),
        (
            "misspelt",
            "code/rum.sh",
            f"The input code at {ROOT}/code has no rum.sh, which the log names. It has 1 file: run",
        ),
    ],
)
def test_a_program_that_is_not_in_an_input(processing: Any, name: str, path: str, hint: str) -> None:
    """Started by a shell, which says so, and by the engine, which could not start it."""
    for number, program in enumerate(([f"{ROOT}/{path}"], ["sh", f"{ROOT}/{path}"])):
        answer = processing.run_job(f"processing-{name}-{number}", "true", app={"ContainerEntrypoint": program})
        assert answer["ProcessingJobStatus"] == "Failed"
        (said,) = answer["Local"]["Hints"]
        assert said.startswith(hint)


@pytest.mark.slow(4)
def test_files_that_no_output_takes_are_named(processing: Any, life: Any) -> None:
    script = f"mkdir -p {ROOT}/oo/sub; echo x > {ROOT}/oo/sub/x.csv; echo y > {ROOT}/y.csv; echo z > {ROOT}/o/z"
    job = processing.job_file("processing-beside", script, outputs=[an_output("o")])
    done = life("run", job)
    assert f"! lost      {ROOT}/y.csv, {ROOT}/oo/sub/x.csv: no output takes them" in done.stderr
    described = life("describe", "processing-beside").stdout
    assert f"{ROOT}/y.csv, {ROOT}/oo/sub/x.csv: no output takes them" in described
    for name, written, lost in (
        ("processing-taken", f"echo z > {ROOT}/o/z; echo x > /srv/x.csv", None),  # what is elsewhere may be anything
        ("processing-away", "mkdir -p /srv; echo x > /srv/x.csv", ["/srv/x.csv"]),
        ("processing-idle", "true", None),
    ):
        answer = processing.run_job(name, f"mkdir -p /srv; {written}", outputs=[an_output("o")])
        assert answer["Local"].get("Lost") == lost, name


@pytest.mark.slow(1)
def test_an_object_that_is_missing_fails_the_download(processing: Any, life: Any) -> None:
    (life.folder / "bucket").mkdir()
    answer = processing.run_job(
        "processing-missing",
        "true",
        inputs=[an_input("data", "s3://some/prefix")],
        local={"Sources": {"s3://some": "./bucket"}},
    )
    assert answer["ProcessingJobStatus"] == "Failed"
    assert answer["FailureReason"].startswith("ClientError: Data download failed:No S3 objects found under S3 URL")


@pytest.mark.slow(3)
def test_messages(processing: Any, assert_nothing_left: Clean) -> None:
    made = "/opt/ml/output/message"
    for name, script, message in (
        ("processing-long", f"yes äöü | head -c 5000 > {made}", ("äöü\n" * 200)[:500]),
        ("processing-fifo", f"mkfifo {made}", None),
        ("processing-folder", f"mkdir {made}", None),
        ("processing-link", f"ln -s /etc/hostname {made}", None),
        ("processing-huge", f"truncate -s 1G {made}", "\0" * 1024),
        ("processing-device", f"mknod {made} c 1 5", None),
    ):
        answer = processing.run_job(name, script)
        assert answer["ProcessingJobStatus"] == "Completed", (name, answer)
        said = answer.get("ExitMessage")
        assert bool(said) is bool(message), name
        assert (said or "").startswith(message or ""), name
        assert len((said or "").encode()) <= 1024, name
        assert_nothing_left(name)


@pytest.mark.slow(1)
def test_a_message_that_is_not_utf_8_fails_the_job(processing: Any) -> None:
    answer = processing.run_job("processing-latin", "printf 'caf\\351 au lait' > /opt/ml/output/message")
    assert answer["ProcessingJobStatus"] == "Failed"
    assert answer["FailureReason"].startswith("ClientError: ")
    assert "ExitMessage" not in answer


@pytest.mark.slow(2)
def test_a_stop_is_a_term_signal_and_keeps_message_and_outputs(
    processing: Any, life: Any, assert_nothing_left: Clean
) -> None:
    processing.detach(
        "processing-stops",
        f"trap 'echo stopped > /opt/ml/output/message; echo s > {ROOT}/o/s; exit 0' TERM\n"
        "echo ready; while :; do sleep 0.1; done",
        outputs=[an_output("o")],
    )
    life.until_logged("processing-stops", "ready")
    assert life("stop", "processing-stops", "--wait").returncode == 0
    answer = life.describe("processing-stops")
    assert answer["ProcessingJobStatus"] == "Stopped"
    assert answer["ExitMessage"] == "stopped\n"
    assert "FailureReason" not in answer
    assert processing.files() == {"o/s": "s\n"}
    assert life("stop", "processing-stops").returncode == 2
    assert_nothing_left("processing-stops")


@pytest.mark.slow(3)
def test_time_that_is_up_stops_the_job(processing: Any) -> None:
    answer = processing.run_job(
        "processing-late", "sleep 1000", StoppingCondition={"MaxRuntimeInSeconds": 1}, local={"StopGraceSeconds": 0}
    )
    assert answer["ProcessingJobStatus"] == "Stopped"


@pytest.mark.slow(2)
def test_memory_that_runs_out(processing: Any) -> None:
    """The record fail-2026-01-12-processing-oom."""
    answer = processing.run_job("processing-oom", "exec tail -c 209715200 /dev/zero", local={"Memory": "32m"})
    assert answer["FailureReason"] == (
        "ClientError: Please use an instance type with more memory, "
        "or reduce the size of job data processed on an instance."
    )


@pytest.mark.slow(1)
def test_an_output_that_became_a_file_is_noted(processing: Any) -> None:
    answer = processing.run_job(
        "processing-file", f"rmdir {ROOT}/o; echo x > {ROOT}/o", outputs=[an_output("o"), an_output("empty")]
    )
    assert answer["ProcessingJobStatus"] == "Completed"
    notes = answer["Local"]["Artifacts"]["Notes"]
    assert f"{ROOT}/o is not a folder any more: nothing was uploaded" in notes
    assert f"nothing was written to {ROOT}/empty" in notes
    assert "Lost" not in answer["Local"]


@pytest.mark.slow(2)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_volume_that_is_full(processing: Any, assert_nothing_left: Clean) -> None:
    resources = {"ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}}
    answer = processing.run_job(
        "processing-full",
        f"head -c 2G /dev/zero > {ROOT}/o/big",
        outputs=[an_output("o")],
        local={"EnforceInstanceLimits": True},
        ProcessingResources=resources,
    )
    assert answer["ProcessingJobStatus"] == "Failed"
    assert answer["FailureReason"].startswith("AlgorithmError: , exit code: ")
    assert_nothing_left("processing-full")


QUERIES = {
    "Athena": {"Catalog": "c", "Database": "d", "QueryString": "q", "OutputFormat": "PARQUET"},
    "Redshift": {
        "ClusterId": "c",
        "Database": "d",
        "DbUser": "u",
        "QueryString": "q",
        "OutputFormat": "CSV",
        "ClusterRoleArn": "arn:aws:iam::123456789012:role/r",
    },
}


def a_query(word: str, path: str, **members: Any) -> dict[str, Any]:
    query = {**QUERIES[word], "OutputS3Uri": f"s3://b/{word.lower()}/"}
    definition = {f"{word}DatasetDefinition": query, "LocalPath": path, **members}
    return {"InputName": word, "DatasetDefinition": definition}


@pytest.mark.slow(2)
def test_a_folder_stands_for_the_result_of_a_query(processing: Any, assert_nothing_left: Clean) -> None:
    for word in ("athena", "redshift"):
        (processing.life.folder / word).mkdir()
        (processing.life.folder / word / "part-0").write_text(f"rows of {word}\n")
    answer = processing.run_job(
        "processing-queries",
        f"cat {ROOT}/a/part-0 {ROOT}/r_0 > {ROOT}/o/rows; cp /opt/ml/config/processingjobconfig.json {ROOT}/o/config",
        inputs=[a_query("Athena", f"{ROOT}/a"), a_query("Redshift", f"{ROOT}/r", InputMode="Pipe")],
        outputs=[an_output("o")],
        local={"Sources": {"s3://b/athena": "./athena", "s3://b/redshift/": "./redshift"}},
    )
    assert answer["ProcessingJobStatus"] == "Completed", answer
    files = processing.files()
    assert files["o/rows"] == "rows of athena\nrows of redshift\n"
    _, first, _ = json.loads(files["o/config"])["ProcessingInputs"]
    assert first == a_query("Athena", f"{ROOT}/a")
    notes = [each["Text"] for each in answer["Local"]["Notes"] if each["Id"] == "dataset-folder"]
    assert [each.partition(":")[0] for each in notes] == [
        f"the input {word} is the folder {processing.life.folder / word.lower()}" for word in ("Athena", "Redshift")
    ]
    assert_nothing_left("processing-queries")


def test_what_is_not_done_or_wrong_is_refused(processing: Any) -> None:
    whole_bucket = {"Sources": {"s3://b": "./code"}}
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"inputs": [an_input("a", "./code", "/opt/ml/input/a")]}, "must be a folder below /opt/ml/processing/"),
        ({"inputs": [an_input("a", "./code", f"{ROOT}/../x")]}, "must be a folder below /opt/ml/processing/"),
        ({"outputs": [an_output("a", path="/tmp/x")]}, "must be a folder below /opt/ml/processing/"),
        ({"inputs": [an_input("a", "./code", f"{ROOT}/code/")]}, f"another input is at {ROOT}/code already"),
        ({"outputs": [an_output("a", path=f"{ROOT}/code")]}, "would have to be uploaded"),
        ({"inputs": [an_input("a", "./code", S3CompressionType="Gzip")]}, "Gzip is for Pipe mode only"),
        (
            {"inputs": [a_query("Athena", f"{ROOT}/a")], "local": whole_bucket},
            "needs a folder with what the query would write, because no Athena query is run here: --source s3://b/athena/",
        ),
        ({"inputs": [a_query("Redshift", "/tmp/a")]}, "must be a folder below /opt/ml/processing/"),
        (
            {"outputs": [{"OutputName": "a", "FeatureStoreOutput": {"FeatureGroupName": "g"}, "AppManaged": True}]},
            "FeatureStoreOutput is refused",
        ),
        ({"inputs": [an_input(f"i{each}", "./code") for each in range(10)]}, "length less than or equal to 10"),
        ({"outputs": [an_output(f"o{each}") for each in range(11)]}, "length less than or equal to 10"),
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 10_000_000}}, "value less than or equal to"),
        ({"local": {"Code": "./code"}}, "processing jobs have no /opt/ml/code"),
    )
    for number, (more, says) in enumerate(wrong):
        assert says in processing.refused(f"processing-wrong-{number}", **more), says


@pytest.mark.slow(2)
def test_commands_know_the_job(processing: Any, life: Any) -> None:
    path = processing.job_file("processing-known", f"echo hello; echo x > {ROOT}/o/x", outputs=[an_output("o")])
    assert life("validate", path).returncode == 0
    assert life("validate", "--strict", path).returncode == 2
    planned = json.loads(life("plan", path, "--json").stdout)
    assert planned["ProcessingJobName"] == "processing-known"
    assert planned["Outputs"][0]["LocalPath"] == f"{ROOT}/o"
    assert "Outputs" in life("plan", path).stdout
    done = life("run", path, "--junit", "junit.xml", "--report", "report.json")
    assert done.returncode == 0, done.stderr
    assert "processing-known" in (life.folder / "junit.xml").read_text()
    assert json.loads((life.folder / "report.json").read_text())["ProcessingJobStatus"] == "Completed"
    assert life("logs", "processing-known").stdout == "hello\n"
    listed = json.loads(life("jobs", "--json").stdout)
    assert [each["ProcessingJobName"] for each in listed["ProcessingJobSummaries"]] == ["processing-known"]
    assert "processing-known" in life("report", "processing-known").stdout
    again = life("rerun", "processing-known", "--name", "processing-again", "--json")
    assert json.loads(again.stdout)["ProcessingJobName"] == "processing-again"
    in_shell = life("shell", path, "--", "ls", f"{ROOT}/code")
    assert in_shell.stdout == "run.sh\n", in_shell.stderr
    assert life("rm", "processing-known", "processing-again").returncode == 0


@pytest.mark.slow(2)
def test_a_job_without_a_file(processing: Any, life: Any) -> None:
    (life.folder / "in").mkdir()
    (life.folder / "in" / "a").write_text("a\n")
    done = life(
        *(
            "run",
            "--image",
            life.image,
            "--entrypoint",
            f"cp -r {ROOT}/in/a {ROOT}/there/a",
            "--name",
            "processing-bare",
        ),
        *("--input", f"in=./in:{ROOT}/in", "--processing-output", f"there={ROOT}/there:./there"),
    )
    assert done.returncode == 0, done.stderr
    assert processing.files("there") == {"a": "a\n"}
    refused = life("run", processing.job_file("processing-flag", "true"), "-p", "a=1")
    assert (refused.returncode, "which does not take" in refused.stderr) == (2, True), refused.stderr

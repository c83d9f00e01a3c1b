"""Pipe mode as a job: FIFOs that end with the job, whatever the reader does."""

import gzip
import json
import signal
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run, until
from tests.kit.fixtures import touch_inside
from tests.kit.jobs import Background, Ran, channel
from tests.kit.reasons import assert_failed
from tests.kit.s3_servers import S3Server

RunJob = Callable[..., Ran]
FIFO = "/opt/ml/input/data/train"


@pytest.mark.usefixtures("data")
def test_epochs_follow_each_other(run_job: RunJob) -> None:
    ran = run_job(
        [channel(mode="Pipe")],
        f"ls /opt/ml/input/data; for n in 0 1 2; do cat {FIFO}_$n; done; head -c 2 {FIFO}_3; cat {FIFO}_4 | wc -c",
    )
    assert ran.answer["TrainingJobStatus"] == "Completed", ran.reason
    assert ran.log() == "train_0\n" + "one\ntwo\nthree\n" * 3 + "on14\n"


@pytest.mark.usefixtures("data")
def test_the_configuration_says_pipe(run_job: RunJob) -> None:
    ran = run_job([channel(mode="Pipe")], "cat /opt/ml/input/config/inputdataconfig.json; echo; ls /opt/ml/input/data")
    assert json.loads(ran.log().splitlines()[0])["train"]["TrainingInputMode"] == "Pipe"
    assert ran.log().splitlines()[1:] == ["train_0"]


@pytest.mark.usefixtures("data")
def test_a_fifo_that_nobody_opens_does_not_keep_the_job(run_job: RunJob) -> None:
    ran = run_job([channel(mode="Pipe"), channel("other", mode="Pipe")], f"cat {FIFO}_0")
    assert ran.exit == 0
    assert ran.log() == "one\ntwo\nthree\n"


@pytest.mark.slow(1)
def test_a_reader_that_stops_reading_does_not_keep_the_job(run_job: RunJob, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "large").write_bytes(bytes(8 << 20))
    ran = run_job([channel(mode="Pipe")], f"exec 3<{FIFO}_0; head -c 10 <&3 >/dev/null; kill -9 $$", runs="sh")
    assert ran.exit in {0, 1}
    stopped = run_job(
        [channel(mode="Pipe")],
        f"exec 3<{FIFO}_0; head -c 10 <&3 >/dev/null; sleep 600",
        StoppingCondition={"MaxRuntimeInSeconds": 1},
        local={"StopGraceSeconds": 1},
    )
    assert stopped.answer["SecondaryStatus"] == "MaxRuntimeExceeded"
    assert stopped.answer["TrainingTimeInSeconds"] < 300


def test_gzip(run_job: RunJob, data: Path) -> None:
    for path in (data / "a", data / "d"):
        text = path.read_bytes()
        path.write_bytes(gzip.compress(text[:2]) + gzip.compress(text[2:]))
    (data / "b" / "c").write_bytes(gzip.compress(b"two\n"))
    ran = run_job([channel(mode="Pipe", CompressionType="Gzip")], f"cat {FIFO}_0")
    assert ran.log() == "one\ntwo\nthree\n"


@pytest.mark.slow(2)
@pytest.mark.usefixtures("data")
def test_what_is_no_gzip_fails_the_job(run_job: RunJob) -> None:
    ran = run_job([channel(mode="Pipe", CompressionType="Gzip")], f"cat {FIFO}_0; sleep 60")
    assert ran.exit == 1
    assert_failed("pipe-not-gzip", ran.answer)


@pytest.mark.usefixtures("data")
def test_record_io(run_job: RunJob) -> None:
    ran = run_job([channel(mode="Pipe", RecordWrapperType="RecordIO")], f"cat {FIFO}_0 >/opt/ml/model/records")
    records, rest = [], ran.model("records")
    while rest:
        magic, length = struct.unpack("<II", rest[:8])
        assert magic == 0xCED7230A
        records.append(rest[8 : 8 + length])
        rest = rest[8 + length + -length % 4 :]
    assert records == [b"one\n", b"two\n", b"three\n"]


@pytest.mark.slow(1)
def test_shuffled_epochs(run_job: RunJob, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for number in range(20):
        (tmp_path / "data" / f"{number:02}").write_text(f"{number} ")
    read = f"for n in 0 1 2; do cat {FIFO}_$n; echo; done"
    first, second = (run_job([channel(mode="Pipe", ShuffleConfig={"Seed": 7})], read) for _ in range(2))
    epochs = first.log().splitlines()
    assert first.log() == second.log()
    assert len(set(epochs)) == 3
    assert {tuple(sorted(map(int, epoch.split()))) for epoch in epochs} == {tuple(range(20))}
    assert "shuffle-order" in first.notes


def test_an_augmented_manifest(run_job: RunJob, data: Path, tmp_path: Path) -> None:
    lines = [{"label": 1, "image-ref": f"{data}/a"}, {"image-ref": f"{data}/d", "other": "x", "label": [0, "y"]}]
    (tmp_path / "lines.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    source: dict[str, Any] = {"S3DataType": "AugmentedManifestFile", "AttributeNames": ["image-ref", "label"]}
    ran = run_job([channel(uri="./lines.jsonl", mode="Pipe", **source)], f"cat {FIFO}_0; cat {FIFO}_1 | wc -c")
    sent = 'one\n1three\n[0, "y"]'
    assert ran.log() in {f"{sent}{len(sent)}\n", f"{sent.replace(', ', ',')}{len(sent) - 1}\n"}


@pytest.mark.parametrize("line", ["not json", '{"label": 1}', '{"label": 1, "image-ref": 5}', "[]"])
def test_a_bad_line_fails_the_job_before_it_trains(run_job: RunJob, tmp_path: Path, line: str) -> None:
    (tmp_path / "lines.jsonl").write_text(f"{line}\n")
    source: dict[str, Any] = {"S3DataType": "AugmentedManifestFile", "AttributeNames": ["image-ref", "label"]}
    ran = run_job([channel(uri="./lines.jsonl", mode="Pipe", **source)], "echo trained")
    assert_failed("augmented-line", ran.answer)


@pytest.mark.slow(1)
@pytest.mark.usefixtures("data")
def test_shards_are_read_by_their_hosts(run_job: RunJob) -> None:
    ran = run_job(
        [channel(mode="Pipe", S3DataDistributionType="ShardedByS3Key")],
        f"cat {FIFO}_0; cat {FIFO}_1",
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 2},
    )
    assert ran.log("algo-1") == "one\nthree\n" * 2
    assert ran.log("algo-2") == "two\n" * 2


def test_objects_of_s3_are_piped(run_job: RunJob, s3: S3Server) -> None:
    bucket = s3.make_bucket()
    for name, text in {"in/a": b"one\n", "in/b/c": b"two\n", "in/d": b"three\n", "other": b"no"}.items():
        s3.put(bucket, name, text)
    ran = run_job([channel(uri=f"s3://{bucket}/in/", mode="Pipe")], f"cat {FIFO}_0 {FIFO}_1", env=s3.environment)
    assert ran.log() == "one\ntwo\nthree\n" * 2, ran.reason
    assert "s3-credentials" in ran.notes


@pytest.mark.slow(1)
def test_a_feed_that_breaks_fails_the_job_with_the_reason(
    job_file: Callable[..., Path], background: Callable[..., Background], data: Path
) -> None:
    path = job_file(
        [channel(mode="Pipe")],
        f"cat {FIFO}_0; until [ -e /opt/ml/output/go ]; do sleep 0.1; done; cat {FIFO}_1; sleep 60",
        local={"PeerGraceSeconds": 1},
    )
    job = background(path)
    until(lambda: "three" in job.output())
    (data / "d").unlink()
    touch_inside(job.home / "jobs" / job.name / "hosts" / "algo-1" / "output" / "go")
    answer = job.finish()
    assert_failed("pipe-object-gone", answer)


@pytest.mark.slow(2)
@pytest.mark.usefixtures("data")
def test_a_supervisor_that_dies_fails_the_job(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    smlocal_run: Run,
    assert_nothing_left: Callable[[str], None],
) -> None:
    path = job_file([channel(mode="Pipe")], f"cat {FIFO}_0; cat {FIFO}_1 >/dev/null; sleep 60")
    job = background(path)
    until(lambda: "three" in job.output())
    job.process.send_signal(signal.SIGKILL)
    job.process.wait()
    smlocal_run("recover", check=True)
    answer = json.loads(smlocal_run("describe", path.stem, "--json", check=True).stdout)
    assert_failed("supervisor-killed-while-feeding", answer)
    assert "streamed Pipe channels" in answer["Local"]["Explanation"]
    assert_nothing_left(path.stem)

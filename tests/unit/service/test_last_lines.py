"""Logs in files: plain text, what the AWS CLI prints, and what CloudWatch's console saves."""

import gzip
import json
import os
from pathlib import Path

import pytest

from smlocal.errors import LogFileError
from smlocal.service.last_lines import saved_log


def test_plain_text(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"".join(b"line %d\n" % number for number in range(100)) + b"\xff last")
    found = saved_log(str(log))
    assert list(found.lines) == [""]
    assert (found.lines[""][0], found.lines[""][-1], len(found.lines[""])) == ("line 81", "� last", 20)


def test_only_the_end_of_a_large_text_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.truncate(3 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\nthe end\n")
    assert saved_log(str(log)).lines[""][-1] == "the end"


def test_what_aws_logs_tail_prints(tmp_path: Path) -> None:
    log = tmp_path / "log"
    at = "2026-11-23T13:24:45.123000+00:00"
    log.write_text(f"{at} job/algo-1-1700000000 one\n{at} job/algo-2-1700000001 two\nmore of two\n")
    assert saved_log(str(log)).lines == {"algo-1": ["one"], "algo-2": ["two", "more of two"]}


def test_events_by_stream_and_time(tmp_path: Path) -> None:
    events = [
        {"logStreamName": "job/algo-1-17", "timestamp": 2, "message": "second\nthird"},
        {"logStreamName": "job/algo-1-17", "timestamp": 1, "message": "first"},
        {"logStreamName": "job/algo-2-17", "timestamp": 1, "message": "other"},
    ]
    log = tmp_path / "log"
    log.write_text(json.dumps({"events": events, "searchedLogStreams": []}))
    assert saved_log(str(log)).lines == {"algo-1": ["first", "second", "third"], "algo-2": ["other"]}
    log.write_text(json.dumps({"events": [{"message": "x"}]}))
    assert saved_log(str(log)).lines == {"": ["x"]}


def test_a_text_that_begins_like_a_document(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text('{"loss": 1}\n{"loss": 2}\n')
    assert saved_log(str(log)).lines == {"": ['{"loss": 1}', '{"loss": 2}']}


LAST = "ValueError: no rows"
STREAM = "job/algo-1-1700000000"
EVENTS = [
    {"logStreamName": STREAM, "timestamp": 1700000000000, "message": "epoch 1", "ingestionTime": 1, "eventId": "1"},
    {"logStreamName": STREAM, "timestamp": 1700000000001, "message": LAST, "ingestionTime": 1, "eventId": "2"},
]
FIELDS = [
    [{"field": "@timestamp", "value": "2023-11-14 22:13:20.001"}, {"field": "@message", "value": LAST}],
    [{"field": "@timestamp", "value": "2023-11-14 22:13:20.000"}, {"field": "@message", "value": "epoch 1"}],
]
ID = "3" * 56
FORMS = {
    "the console's table": f'timestamp,message\n1700000000000,"epoch 1\n"\n1700000000001,"{LAST}\n"\n',
    "with a byte order mark": f'\ufefftimestamp,message\r\n1700000000000,"epoch 1\n"\r\n1700000000001,{LAST}\r\n',
    "with streams": f"timestamp,message,logStreamName\n1,epoch 1,{STREAM}\n2,{LAST},{STREAM}\n",
    "newest first": f"timestamp,message\n1700000000001,{LAST}\n1700000000000,epoch 1\n",
    "stored again by a spreadsheet": f"timestamp;message\n1700000000000;epoch 1\n1700000000001;{LAST}\n",
    "Logs Insights": "@timestamp,@message,@logStream,@log\n"
    f"2023-11-14 22:13:20.001,{LAST},{STREAM},111122223333:/aws/sagemaker/TrainingJobs\n"
    f"2023-11-14 22:13:20.000,epoch 1,{STREAM},111122223333:/aws/sagemaker/TrainingJobs\n",
    "Logs Insights, oldest first": "@timestamp,@message\n2023-11-14 22:13:20.000,epoch 1\n"
    f"2023-11-14 22:13:20.001,{LAST}",
    "Logs Insights in JSON": json.dumps([{each["field"]: each["value"] for each in row} for row in FIELDS]),
    "get-query-results": json.dumps({"results": FIELDS, "status": "Complete"}),
    "tail": f"2023-11-14T22:13:20.000000+00:00 {STREAM} epoch 1\n2023-11-14T22:13:20.001000+00:00 {STREAM} {LAST}\n",
    "tail with colours": f"\x1b[32m2023-11-14T22:13:20.000000+00:00\x1b[0m \x1b[36m{STREAM}\x1b[0m epoch 1\n"
    f"\x1b[32m2023-11-14T22:13:20.001000+00:00\x1b[0m \x1b[36m{STREAM}\x1b[0m {LAST}\n",
    "tail --format short": f"2023-11-14T22:13:20 epoch 1\n2023-11-14T22:13:20 {LAST}\n",
    "times of ISO 8601": f"2023-11-14T22:13:20.000Z epoch 1\n2023-11-14T22:13:20.001Z {LAST}\n",
    "a copy of the page": "Timestamp\tMessage\nNo older events at this moment. Retry\n\n2023-11-14T22:13:20.000+01:00\n"
    f"\nepoch 1\n2023-11-14T22:13:20.001+01:00\t{LAST}\nNo newer events at this moment. Auto retry paused. Resume\n",
    "filter-log-events": json.dumps({"events": EVENTS, "searchedLogStreams": []}, indent=4),
    "get-log-events": json.dumps({"events": EVENTS, "nextForwardToken": "f/1", "nextBackwardToken": "b/1"}),
    "a list of events": json.dumps(EVENTS),
    "a list of messages": json.dumps(["epoch 1", LAST]),
    "events one after the other": "\n".join(json.dumps(each, indent=2) for each in EVENTS),
    "get-log-events --output text": f"b/1/s\tf/1/s\nEVENTS\t1700000000000\tepoch 1\t1700000000000\n"
    f"EVENTS\t1700000000001\t{LAST}\t1700000000001\n",
    "filter-log-events --output text": f"EVENTS\t{ID}\t1700000000000\t{STREAM}\tepoch 1\t1700000000000\n"
    f"EVENTS\t{ID}\t1700000000001\t{STREAM}\t{LAST}\t1700000000001\nSEARCHEDLOGSTREAMS\tTrue\n",
    "plain text": f"epoch 1\n{LAST}\n",
    "what the SDK prints": "2023-11-14 22:13:20 Starting - Starting the training job...\n"
    f"\x1b[34mepoch 1\x1b[0m\n{LAST}\n\n2023-11-14 22:14:20 Failed - Training job failed\n"
    f"{'-' * 75}\nUnexpectedStatusException  Traceback (most recent call last)\n"
    "UnexpectedStatusException: Error for Training job job: Failed. Reason: AlgorithmError: , exit code: 1\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_ends_with_the_last_line(form: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(FORMS[form].encode())
    found = saved_log(str(log), job="job")
    lines = [line for line in found.of("algo-1") if line.strip()]
    assert [line.replace("\x1b[34m", "").replace("\x1b[0m", "") for line in lines] == ["epoch 1", LAST]
    assert found.unsure is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_text_of_other_encodings(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(FORMS["tail --format short"].replace("epoch", "époque"), encoding=encoding)
    assert saved_log(str(tmp_path / "log")).lines == {"": ["époque 1", LAST]}


def test_an_export_to_s3(tmp_path: Path) -> None:
    (tmp_path / "000000.gz").write_bytes(gzip.compress(FORMS["times of ISO 8601"].encode()))
    assert saved_log(str(tmp_path / "000000.gz")).lines == {"": ["epoch 1", LAST]}


def test_a_line_that_was_written_over_in_a_table(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"timestamp,message\n1,10%\r20%\n")
    assert saved_log(str(tmp_path / "log")).lines == {"": ["10%\r20%"]}


def test_of_events_of_one_time_each_may_be_the_last(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "@timestamp,@message\n2023-11-14 22:13:20.001,KeyError\n2023-11-14 22:13:20.001,Traceback\n0,epoch\n"
    )
    found = saved_log(str(log))
    assert sorted(found.last[""]) == ["KeyError", "Traceback"]
    log.write_text("timestamp,message\n5,Traceback\n5,KeyError\n")
    found = saved_log(str(log))
    assert (found.last, found.lines) == ({}, {"": ["Traceback", "KeyError"]})


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("@message\nx\n", "no column timestamp"),
        ("@timestamp,@logStream\n1,x\n", "no column message"),
        ("timestamp,message\nyesterday,x\n", "not every event has a time"),
        ("timestamp,message\n1,x\n2\n", "too few columns"),
        ("| @timestamp | @message |\n| --- | --- |\n", "in Markdown"),
        (f"{'-' * 40}\n|   GetLogEvents   |\n", "table of the AWS CLI"),
        ("events:\n- ingestionTime: 1\n  message: x\n", "in YAML"),
        ("<!DOCTYPE html>\n<p>x</p>", "HTML"),
        ("PK\x03\x04 x", "a workbook or a ZIP archive"),
        ("\x1f\x8b x", "without|damaged|read"),
        ('{"results": 1}', "without log events"),
        ('[{"a": 1}]', "have no message"),
    ],
)
def test_what_has_no_end_is_refused_with_the_reason(content: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(content.encode("latin-1"))
    with pytest.raises(LogFileError, match=f"cannot be compared: .*({why})"):
        saved_log(str(tmp_path / "log"))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (json.dumps({"events": EVENTS, "nextToken": "x"}), "has a nextToken"),
        (json.dumps({"results": FIELDS, "status": "Running"}), "was Running"),
        (f"epoch 1\t{LAST}\n", "one line with tabs"),
    ],
)
def test_what_may_be_only_a_part_says_so(content: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(content)
    assert why in (saved_log(str(tmp_path / "log")).unsure or "")


@pytest.mark.parametrize(
    "content",
    [
        '{"timestamp": "2026", "message": "x"}\n{"timestamp": "2026", "message": "y"}\n',
        "[0.1, 0.2]\n",
        "10%\r20%\rdone, message\n",
        "[2026-11-23 10:00:00] INFO x\n",
        "timestamp of the message, x\nMessage\n",
    ],
)
def test_what_a_program_wrote_is_left_as_it_is(content: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(content.encode())
    assert saved_log(str(tmp_path / "log")).lines == {"": content.removesuffix("\n").split("\n")}


def test_the_log_of_another_job(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(FORMS["tail"])
    with pytest.raises(LogFileError, match="is that of job, not of held-tree"):
        saved_log(str(log), job="held-tree")
    log.write_text(f"{FORMS['tail']}2023-11-14T22:13:21.000000+00:00 other/algo-1-1 not of this job\n")
    assert saved_log(str(log), job="job").lines == {"algo-1": ["epoch 1", LAST]}


@pytest.mark.parametrize("content", ["timestamp,message\n", "@timestamp,@message\n\n", '{"events": []}'])
def test_a_form_without_lines(content: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(content)
    assert (saved_log(str(tmp_path / "log")).missing or "").endswith("has no lines")


@pytest.mark.parametrize("content", ["", "\n"])
def test_nothing(tmp_path: Path, content: str) -> None:
    log = tmp_path / "log"
    log.write_text(content)
    found = saved_log(str(log))
    assert found.of("algo-1") in ((), [""])


@pytest.mark.parametrize("document", [{"jobs": []}, {"events": "x"}, {"events": [1]}])
def test_a_document_of_something_else(tmp_path: Path, document: object) -> None:
    log = tmp_path / "log"
    log.write_text(json.dumps(document))
    with pytest.raises(LogFileError, match="without log events"):
        saved_log(str(log))


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(LogFileError):
            saved_log(str(path))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(LogFileError, match="not a regular file"):
        saved_log(str(tmp_path / "fifo"))

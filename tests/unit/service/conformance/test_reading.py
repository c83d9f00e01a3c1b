"""A job's files of any form become a document; others are refused."""

import io
import json
import os
import tarfile
from pathlib import Path

import pytest
from tests.unit.service.conformance.documents import host, whole

from smlocal.errors import ConformanceDocumentError
from smlocal.service.conformance.probe import printed_parts
from smlocal.service.conformance.reading import collect, read

ANSWER = {
    "TrainingJobName": "job-a",
    "TrainingJobStatus": "Stopped",
    "SecondaryStatus": "Stopped",
    "SecondaryStatusTransitions": [{"Status": "Stopped", "StartTime": 1, "StatusMessage": "Training job stopped"}],
    "RoleArn": "arn:aws:iam::123456789012:role/mine",
}
SIGNS = "SIGTERM 10.000\nalive 10.250\nalive 129.900\nali"


def archive(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as made:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("traces/link")
        link.type, link.linkname = tarfile.SYMTYPE, "same"
        made.addfile(link)


def test_a_folder_with_everything_of_a_stopped_job(tmp_path: Path) -> None:
    seen = host(case="stopped")
    model = {"conformance-algo-1.json": json.dumps(seen).encode(), "conformance-algo-1-signs.txt": SIGNS.encode()}
    archive(tmp_path / "model.tar.gz", {**model, "traces/same": b"algo-1", "unknown": b"x"})
    archive(tmp_path / "output.tar.gz", {"only-algo-1": b"algo-1"})
    (tmp_path / "describe.json").write_text(json.dumps(ANSWER))
    (tmp_path / "log.txt").write_text("smlocal-conformance sign algo-1 alive 129.000\n")
    (job,) = collect([str(tmp_path)], version="0")["Jobs"].values()
    assert job["Hosts"]["algo-1"]["Signals"] == {"Seen": ["SIGTERM"], "SecondsToTheLastSignOfLife": 119.9}
    assert job["Outcome"]["Transitions"] == ["Stopped: Training job stopped"]
    assert "123456789012" not in json.dumps(job)
    assert job["Archives"]["Model"]["traces/link"]["Target"] == "same"
    assert job["Archives"]["Model"]["traces/same"]["Content"] == "algo-1"
    assert set(job["Archives"]["Model"]) == {"traces/link", "traces/same"}
    assert set(job["Archives"]["Output"]) == {"only-algo-1", "traces/link"}


@pytest.mark.parametrize("form", ["json", "log", "archive"])
def test_each_form_alone(tmp_path: Path, form: str) -> None:
    seen, path = host(), tmp_path / "file"
    if form == "json":
        path.write_text(json.dumps(seen))
    elif form == "log":
        path.write_text("\n".join(printed_parts(json.dumps(seen), "algo-1")))
    else:
        archive(path, {"conformance-algo-1.json": json.dumps(seen).encode()})
    assert read(str(path), version="0")["Jobs"]["everything"]["Hosts"] == {"algo-1": seen}


def test_a_saved_document_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(whole(host())))
    assert read(str(tmp_path / "a.json"), version="9") == whole(host())


def test_secrets_that_only_this_machine_knows_by_name_are_hidden(tmp_path: Path) -> None:
    seen = host()
    seen["Environment"]["MY_BEARER"] = "hunter2"
    (tmp_path / "a.json").write_text(json.dumps(seen))
    assert "hunter2" not in json.dumps(collect([str(tmp_path / "a.json")], version="0"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "has no document"),
        (b"hello\n", "has no document"),
        (b"[1, 2]", "has no document"),
        (b"{}", "is not a document"),
        (b'{"Jobs": 5}', "is not a document"),
        (b'{"Schema": 1, "Jobs": {"everything": {"Hosts": {"algo-1": 3}}}}', "is not a document"),
        (b'{"Schema": 99, "Jobs": {}}', "has version 99"),
        (b'{"Schema": "1", "Jobs": {}}', "no version"),
        (b'{"Schema": 99, "Host": "algo-1", "Case": "stopped"}', "has version 99"),
        (b'{"Host": "algo-1", "Case": 5}', "is not a document"),
        (b"[" * 100_000, "has no document"),
        (b"\x1f\x8b broken", "cannot be read"),
        (json.dumps(ANSWER).encode(), "has no document"),
    ],
)
def test_what_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ConformanceDocumentError, match=said):
        read(str(tmp_path / "file"), version="0")


def test_jobs_that_cannot_be_one_document(tmp_path: Path) -> None:
    for name, seen in {"a": host(), "b": host("algo-2"), "c": host("algo-2", case="failed")}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(seen))
    paths = [str(tmp_path / f"{name}.json") for name in "abc"]
    with pytest.raises(ConformanceDocumentError, match="second job of the case 'everything'"):
        collect(paths, version="0")
    with pytest.raises(ConformanceDocumentError, match="several jobs: everything, failed"):
        collect([str(tmp_path)], version="0")


def test_a_fifo_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ConformanceDocumentError, match="not a regular file"):
        read(str(tmp_path / "fifo"), version="0")


def test_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smlocal.service.conformance.reading._LARGEST", 10)
    (tmp_path / "file").write_bytes(b"0" * 11)
    with pytest.raises(ConformanceDocumentError, match="too large"):
        read(str(tmp_path / "file"), version="0")


def test_an_archive_with_very_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smlocal.service.conformance.reading._MOST_ENTRIES", 3)
    archive(tmp_path / "a", {str(number): b"" for number in range(5)})
    with pytest.raises(ConformanceDocumentError, match="too large"):
        read(str(tmp_path / "a"), version="0")

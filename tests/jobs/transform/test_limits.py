"""What a container, a filter or an answer may cost the process that transforms: memory, requests and time."""

import gzip
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

Clean = Callable[[str], None]
MEBIBYTE = 1 << 20
MOST = 300 * MEBIBYTE
SMALL = 120 * MEBIBYTE
HELD = (
    "With MaxPayloadInMB 0, an object that is filtered or joined, and a record that is sent alone, have at most 100 MB"
)
MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as file:  # only of children: this process may have been forked from a large one
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)))
sys.exit(code)
"""


@dataclass(kw_only=True)
class Measured:
    """A job that has failed."""

    memory: int
    reason: str
    log: list[str]
    """The data log without its first line and without times."""


@pytest.fixture
def memory(transforms: Any, life: Any, tmp_path: Path, assert_nothing_left: Clean) -> Callable[..., int]:
    """Runs a job that ends with this code, and returns the most memory that its processes took."""

    def run(name: str, *, code: int, **members: Any) -> int:
        path = transforms.job_file(name, **members)
        command = [sys.executable, "-c", MEASURE, tmp_path / "memory", sys.executable, "-m", "smlocal", "run", path]
        done = subprocess.run(
            command, cwd=life.folder, env=life.environment, capture_output=True, text=True, check=False, timeout=240
        )
        assert done.returncode == code, done.stderr
        assert_nothing_left(name)
        return int((tmp_path / "memory").read_text())

    return run


@pytest.fixture
def failed(memory: Callable[..., int], transforms: Any, life: Any) -> Callable[..., Measured]:
    """Runs a job that fails."""

    def run(name: str, **members: Any) -> Measured:
        taken = memory(name, code=1, **members)
        log = [line.rpartition("x.csv: ")[2] for line in transforms.data_log(name)]
        return Measured(memory=taken, reason=life.describe(name)["FailureReason"], log=log)

    return run


@pytest.mark.slow(2)
def test_an_answer_of_gigabytes_is_not_joined(transforms: Any, failed: Callable[..., Measured]) -> None:
    transforms.data({"x.csv": "a\n"})
    found = failed(
        "transform-huge-answer", variables={"ANSWER": "megabytes:1536"}, DataProcessing={"JoinSource": "Input"}
    )
    assert found.memory < MOST
    assert found.reason == "AlgorithmError: See job logs for more information"
    assert found.log[1:] == ["The answer has more than 100 MB, and is too large to be filtered or joined"]


@pytest.mark.slow(1)
def test_the_largest_answer_that_is_parsed_needs_little_memory(
    transforms: Any, failed: Callable[..., Measured]
) -> None:
    transforms.data({"x.csv": "a\n"})
    found = failed(
        "transform-large-answer", variables={"ANSWER": "megabytes:100"}, DataProcessing={"OutputFilter": "$[0]"}
    )
    assert found.memory < MOST
    assert found.reason == "ClientError: See job logs for more information"
    assert found.log[1:] == [
        "Failed to parse output from the algorithm: a record is too large to be filtered or joined"
    ]


@pytest.mark.slow(4)
def test_a_length_that_data_states_is_not_believed(transforms: Any, failed: Callable[..., Measured]) -> None:
    """Compressed, the object has 2 MB."""
    head = struct.pack("<QI", 1 << 40, 1)
    transforms.data({"x.csv": gzip.compress(head) + gzip.compress(bytes(MEBIBYTE)) * 1400})
    source = {"SplitType": "TFRecord", "CompressionType": "Gzip"}
    found = failed("transform-stated", source=source)
    assert found.memory < SMALL
    assert found.log[1:] == ["Too much data for max payload size"]
    middle = struct.pack("<II", 0xCED7230A, 2 << 29 | MEBIBYTE) + bytes(MEBIBYTE)
    transforms.data({"x.csv": gzip.compress(middle) * 1400})
    found = failed("transform-parts", source={**source, "SplitType": "RecordIO"})
    assert found.memory < SMALL
    assert found.log[1:] == ["Too much data for max payload size"]


@pytest.mark.slow(8)
def test_a_payload_without_a_limit_takes_little_memory(
    transforms: Any, life: Any, memory: Callable[..., int], failed: Callable[..., Measured]
) -> None:
    """It is streamed, or it fails. The container alone says that there is no limit."""
    transforms.data({"x.csv": ""})
    os.truncate(life.folder / "data" / "x.csv", 612 * MEBIBYTE)
    unlimited = {"PARAMETERS": '{"MaxPayloadInMB": 0, "BatchStrategy": "MULTI_RECORD"}', "ANSWER": "count"}
    assert memory("transform-streamed", code=0, variables=unlimited) < SMALL
    assert transforms.output() == {"x.csv.out": f"{612 * MEBIBYTE}\n"}
    for name, members in (
        ("filtered", {"DataProcessing": {"InputFilter": "$[0]"}}),
        ("joined", {"DataProcessing": {"JoinSource": "Input"}, "source": {"SplitType": "None"}}),
        ("single", {"BatchStrategy": "SingleRecord"}),
    ):
        found = failed(f"transform-{name}-unlimited", variables=unlimited, **members)
        assert found.memory < MOST
        assert found.log[1:] == [HELD]


@pytest.mark.slow(2)
def test_large_records_without_a_limit_are_not_all_in_memory(
    transforms: Any, life: Any, memory: Callable[..., int]
) -> None:
    """Six could be sent at once."""
    transforms.data({"x.csv": ""})
    with (life.folder / "data" / "x.csv").open("r+b") as file:
        for number in range(1, 7):
            file.seek(90 * MEBIBYTE * number - 1)
            file.write(b"\n")
    alone = {"BatchStrategy": "SingleRecord", "MaxConcurrentTransforms": 6, "MaxPayloadInMB": 0}
    assert memory("transform-alone", code=0, variables={"ANSWER": "sizes"}, **alone) < MOST
    assert transforms.output()["x.csv.out"].count(f"{90 * MEBIBYTE} ") == 6


@pytest.mark.slow(2)
def test_one_wide_character_does_not_take_four_times_the_memory(
    transforms: Any, failed: Callable[..., Measured]
) -> None:
    transforms.data({"x.csv": "😀" + "x" * (98 * MEBIBYTE)})
    found = failed("transform-wide", MaxPayloadInMB=100, DataProcessing={"InputFilter": "$[0]"})
    assert found.memory < 200 * MEBIBYTE
    assert found.log[1:] == ["Failed to parse input: a record is too large to be filtered or joined"]


@pytest.mark.slow(1)
def test_a_filter_that_multiplies_is_cut_off(transforms: Any, failed: Callable[..., Measured]) -> None:
    transforms.data({"x.csv": "[" * 10 + ",".join("0" * MEBIBYTE) + "]" * 10})
    found = failed(
        "transform-doubling",
        source={"ContentType": "application/json", "SplitType": "None"},
        DataProcessing={"InputFilter": "$" + "[:,:]" * 10},
    )
    assert found.memory < MOST
    assert found.log[1:] == ["InputFilter cannot be applied: it selects more than 4,194,304 values"]


def test_a_container_asks_for_too_much_at_once(transforms: Any, failed: Callable[..., Measured]) -> None:
    transforms.data({"x.csv": "a\n"})
    found = failed("transform-said-much", variables={"PARAMETERS": json.dumps({"MaxConcurrentTransforms": 1_000_000})})
    sentence = "/execution-parameters has a MaxConcurrentTransforms of at most 1000, not 1000000"
    assert (found.reason, found.log) == (f"AlgorithmError: {sentence}", [sentence])


@pytest.mark.slow(2)
def test_the_sum_of_what_is_sent_at_once_is_judged_by_what_the_container_says(
    transforms: Any, failed: Callable[..., Measured]
) -> None:
    transforms.data({"x.csv": "a\n"})
    asked: dict[str, Any] = {"MaxConcurrentTransforms": 50, "variables": {"PARAMETERS": '{"MaxPayloadInMB": 2}'}}
    assert transforms.completed("transform-sum", **asked) == {"x.csv.out": "A\n"}
    asked["variables"] = {"PARAMETERS": '{"MaxPayloadInMB": 3}'}
    found = failed("transform-large-sum", **asked)
    assert found.reason == (
        "ClientError: MaxConcurrentTransforms times MaxPayloadInMB, 50 (the request) times 3 MB "
        "(/execution-parameters), is above 100: set MaxPayloadInMB: 2 or less"
    )


@pytest.mark.slow(1)
def test_what_a_container_says_in_vain_is_told(transforms: Any, life: Any) -> None:
    transforms.data({"x.csv": "a\n"})
    variables = {"PARAMETERS": '{"MaxPayloadInMB": "2", "MaxConcurrentTransforms": 50}'}
    assert transforms.completed("transform-vain", variables=variables) == {"x.csv.out": "A\n"}
    ignored, fewer = life.describe("transform-vain")["Local"]["Artifacts"]["Notes"]
    assert 'MaxPayloadInMB: "2", which is not a whole number' in ignored
    assert fewer.endswith("16 are sent at once")
    assert ignored in " ".join(life("describe", "transform-vain").stdout.split())


@pytest.mark.slow(1)
def test_an_answer_that_does_not_come_to_an_end_is_cut_off(transforms: Any, failed: Callable[..., Measured]) -> None:
    transforms.data({"x.csv": "a\n"})
    limits = {"InvocationsTimeoutInSeconds": 1, "InvocationsMaxRetries": 0}
    found = failed("transform-endless", variables={"ANSWER": "endless"}, ModelClientConfig=limits)
    assert found.log[1:] == ["Model server did not respond to /invocations request within 1 seconds"]


@pytest.mark.slow(2)
def test_odd_parameters_and_content_types_fail_nothing(transforms: Any) -> None:
    transforms.data({"x.csv": "a\n"})
    odd = {"BatchStrategy": [[]], "MaxConcurrentTransforms": {}, "MaxPayloadInMB": "6"}
    for name, said in (("wrong-types", json.dumps(odd)), ("nested", "[" * 1020)):
        variables = {"PARAMETERS": said}
        assert transforms.completed(f"transform-{name}", variables=variables) == {"x.csv.out": "A\n"}
    snow = {"source": {"ContentType": "text/csv; x=☃"}, "variables": {"ANSWER": "seen"}}
    seen = json.loads(transforms.completed("transform-snow", **snow)["x.csv.out"])
    assert seen["headers"]["content-type"].encode("latin-1").decode() == "text/csv; x=☃"


@pytest.mark.slow(1)
def test_a_deep_answer_is_joined_or_the_job_fails_with_a_reason(transforms: Any, life: Any) -> None:
    """How deep it may be depends on Python."""
    transforms.data({"x.csv": "1"})
    processed = {
        "source": {"ContentType": "application/json", "SplitType": "None"},
        "output": {"Accept": "application/json"},
        "DataProcessing": {"JoinSource": "Input"},
    }
    for depth in (985, 60_000):
        name = f"transform-deep-{depth}"
        done = transforms.run(name, variables={"ANSWER": f"deep:{depth}"}, **processed)
        if done.returncode:
            assert life.describe(name)["FailureReason"] == "ClientError: See job logs for more information"
            assert "nested" in transforms.data_log(name)[1] or "Failed to parse" in transforms.data_log(name)[1]
        else:
            assert transforms.output()["x.csv.out"].endswith("]" * depth + "}")

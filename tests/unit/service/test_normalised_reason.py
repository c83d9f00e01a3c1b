"""The parts of a reason that differ between two runs of one job, and those that do not."""

import pytest

from smlocal.service.job_end import exit_code_in, normalised, normalised_reason, same_reason, says_nothing

RUNTIME = "ClientError: Artifact upload failed:API error (400): "


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 2026-11-23 13:24:45,123 it broke", "at 2025-01-02 03:04:05,678 it broke"),
        ("2026-11-23T13:24:45.123000+00:00 broke", "2026-11-24T01:02:03Z broke"),
        ("Mon Nov 23 13:24:45 UTC 2026 broke", "Tue Nov 24 01:02:03 UTC 2026 broke"),
        ("[Nov 23 13:24:45] broke", "[Dec  1 01:02:03] broke"),
        ("epoch 1763900000.5", "epoch 1763911111.25"),
        ("run-20261123-132445-001", "run-20261124-010203-999"),
        ("<Model object at 0x7f3c2a1b5d90>", "<Model object at 0x55d0c8a0>"),
        ("connect to 10.0.0.1:7777", "connect to 172.17.0.12:7778"),
        ("connect to ip-10-0-0-1.ec2.internal", "connect to ip-10-0-203-7.eu-west-1.compute.internal"),
        ("connect to localhost:43211", "connect to localhost:50001"),
        ("fe80::1c2b", "fe80::ffff:1"),
        ("role arn:aws:iam::111122223333:role/x.", "role arn:aws-cn:iam::444455556666:role/service/y"),
        ("111122223333.dkr.ecr.us-east-1.amazonaws.com/i", "444455556666.dkr.ecr.us-east-1.amazonaws.com/i"),
        ("Request ID: 4442587FB7D0A2F9, HostID: a/b+c=", "Request ID: 0A, HostID: z"),
        ("id 0f8fad5b-d9cb-469f-a165-70867728950e", "id 7c9e6679-7425-40de-944b-e07fc1f90ae7"),
        ("container 4c01db0b339c", "container 9f86d081884c"),
        ("/tmp/tmpab12_xyz/model", "/tmp/tmp99999999/model"),
        ("killed pid 17", "killed pid 41234"),
        ("after 3.51 s", "after 12.02 s"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("job one failed in one/algo-1", "job other failed in other/algo-1"),
        (
            f'{RUNTIME}OCI runtime create failed: exec: "train": executable file not found in $PATH: unknown',
            f'{RUNTIME}failed to create task: runc: exec: "train": executable file not found in $PATH',
        ),
    ],
)
def test_what_differs_between_two_runs_is_replaced(one: str, other: str) -> None:
    assert normalised_reason(one, names=("one", "other")) == normalised_reason(other, names=("one", "other"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("AlgorithmError: , exit code: 1", "AlgorithmError: , exit code: 2"),
        ("No such file: /opt/ml/input/data/train/a.csv", "No such file: /opt/ml/input/data/train/b.csv"),
        ("timed out after 30 seconds", "timed out after 60 seconds"),
        ("port 7777", "port 8888"),
        ("std::bad_alloc", "c10::Error"),
        ("error 0x80070005", "error 0x80070002"),
        ("size [64, 10]", "size [64, 20]"),
        ("NoSuchKey s3://bucket/a", "NoSuchKey s3://bucket/b"),
        ("algo-1 failed", "algo-2 failed"),
        ("onee failed", "anoother failed"),
        (f'{RUNTIME}x: exec: "train": not found', f'{RUNTIME}x: exec: "main": not found'),
    ],
)
def test_what_says_something_stays(one: str, other: str) -> None:
    assert not same_reason(one, other, names=("one", "other"))


def test_the_longer_name_is_replaced_first() -> None:
    assert normalised("a-b of a", names=("a", "a-b")) == "<job> of <job>"


def test_of_a_reason_that_was_cut_the_end_is_not_compared() -> None:
    text = "AlgorithmError: " + "x y " * 300
    one, other = (f"{text[:500]} {name} {text[500:]}"[:1024] for name in ("short", "longer-name"))
    assert same_reason(one, other, names=("short", "longer-name"))
    assert not same_reason(one, other.replace("x y", "x z", 20), names=("short", "longer-name"))
    assert not same_reason("AlgorithmError: x", one)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("AlgorithmError: , exit code: 1", 1),
        ("AlgorithmError: Exit Code: 139", 139),
        ("AlgorithmError: exit code: 4 was seen, exit code: 137\n", 137),
        ("AlgorithmError: cut, exit c", None),
        ("ClientError: exit code: 1 is no end", None),
    ],
)
def test_the_exit_code_at_the_end(reason: str, code: int | None) -> None:
    assert exit_code_in(reason) == code


def test_a_reason_without_text() -> None:
    assert says_nothing("AlgorithmError: , exit code: 1")
    assert says_nothing("AlgorithmError: Exit Code: 1")
    assert not says_nothing("AlgorithmError: no, exit code: 1")
    assert not says_nothing("ClientError: Data download failed")

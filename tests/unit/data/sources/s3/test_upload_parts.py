"""The parts of an upload, and how it waits for a file that is still being written."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.data.sources.s3.error_responses import FetchCancelledError
from smlocal.data.sources.s3.writer import (
    MOST_PARTS,
    PART,
    FilePart,
    GrowingFile,
    UnreadableBodyError,
    UploadBody,
    first_part,
    part_size,
)

LARGEST = 5 << 40
"""An object of S3 has no more bytes."""


def parts_of(size: int, first: int) -> int:
    number = done = 0
    while done < size:
        number += 1
        done += part_size(number, first)
    return number


@given(size=st.integers(1, LARGEST))
def test_ten_thousand_parts_hold_any_object_whose_size_was_known(size: int) -> None:
    first = first_part(size)
    assert PART <= first <= max(PART, size // 4000)
    assert parts_of(size, first) <= MOST_PARTS // 2 + 1


def test_a_guess_that_was_far_too_low_still_leads_to_a_terabyte() -> None:
    assert parts_of(1 << 40, first_part(0)) <= MOST_PARTS


def test_no_part_is_larger_than_a_part_may_be() -> None:
    assert max(part_size(number, first_part(LARGEST)) for number in range(1, MOST_PARTS + 1)) <= 5 << 30
    assert [part_size(number, PART) // PART for number in (1, 5000, 5001, 6001, 10_000)] == [1, 1, 2, 4, 32]


@pytest.mark.parametrize(("start", "size"), [(0, 0), (0, 3_000_000), (1, 1 << 20), (2_999_999, 1)])
def test_a_stretch_of_a_file_can_be_read_again_and_again(tmp_path: Path, start: int, size: int) -> None:
    data = os.urandom(3_000_000)
    (tmp_path / "f").write_bytes(data)
    descriptor = os.open(tmp_path / "f", os.O_RDONLY)
    body, told = sent(descriptor, start, size)
    assert len(body) == size
    for _ in range(2):  # for a checksum and for the signature
        assert b"".join(iter(lambda: body.read(70_000), b"")) == data[start : start + size]
        body.seek(0)
    assert told == []
    body.signal_transferring()
    for _ in range(2):  # the second attempt of a request
        body.seek(0)
        assert body.read() == data[start : start + size]
    assert sum(told) == size
    body.reset()
    assert sum(told) == 0
    os.close(descriptor)


def test_a_file_that_became_shorter_or_was_closed(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(100))
    descriptor = os.open(tmp_path / "f", os.O_RDONLY)
    body, _ = sent(descriptor, 50, 51)
    assert len(b"".join(iter(lambda: body.read(20), b""))) == 50
    with pytest.raises(UnreadableBodyError):
        body.signal_transferring()
    assert "has become shorter" in str(body.failure)
    os.close(descriptor)
    body, _ = sent(descriptor, 0, 10)
    body.signal_transferring()
    with pytest.raises(UnreadableBodyError):
        body.read()
    assert "Bad file descriptor" in str(body.failure)


@pytest.fixture
def cancelled(tmp_path: Path) -> Iterator[UploadBody]:
    (tmp_path / "f").write_bytes(bytes(100))
    descriptor = os.open(tmp_path / "f", os.O_RDONLY)
    part = FilePart(descriptor=descriptor, start=0, size=100, uri="s3://b/k")
    yield UploadBody(part, lambda _: None, lambda: True)
    os.close(descriptor)


def test_a_cancelled_body_is_not_read_any_more(cancelled: UploadBody) -> None:
    cancelled.signal_transferring()
    with pytest.raises(UnreadableBodyError):
        cancelled.read()
    assert isinstance(cancelled.failure, FetchCancelledError)


def test_a_body_that_is_cancelled_while_it_is_signed_is_not_sent_and_nothing_is_printed(
    cancelled: UploadBody, capfd: pytest.CaptureFixture[str]
) -> None:
    """awscrt reads the body in a thread of its own, and prints what is raised there."""
    pytest.importorskip("awscrt")
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
    from botocore.crt.auth import CrtSigV4Auth

    request = AWSRequest(method="PUT", url="http://127.0.0.1/b/k", data=cancelled)
    CrtSigV4Auth(Credentials("key", "secret"), "s3", "us-east-1").add_auth(request)
    assert "Authorization" in request.headers
    with pytest.raises(UnreadableBodyError):
        cancelled.signal_transferring()
    assert isinstance(cancelled.failure, FetchCancelledError)
    assert capfd.readouterr().err == ""


def sent(descriptor: int, start: int, size: int) -> tuple[UploadBody, list[int]]:
    told: list[int] = []
    part = FilePart(descriptor=descriptor, start=start, size=size, uri="s3://b/k")
    return UploadBody(part, told.append, lambda: False), told


def never() -> bool:
    return False


@pytest.fixture
def growing(tmp_path: Path) -> GrowingFile:
    (tmp_path / "f").touch()
    return GrowingFile(os.open(tmp_path / "f", os.O_RDONLY), most=100)


def after(act: Callable[[], None]) -> None:
    threading.Timer(0.05, act).start()


def test_whoever_waits_is_woken_when_there_is_enough_or_no_more(growing: GrowingFile) -> None:
    growing.grow(5)
    assert growing.wait(5, never) == 5
    after(lambda: growing.grow(12))
    assert growing.wait(10, never) == 12
    after(growing.end)
    assert growing.wait(100, never) == 12
    assert growing.wait_for_end(never) == 12
    growing.close()
    growing.close()


def test_what_will_never_be_whole_is_not_waited_for(growing: GrowingFile) -> None:
    growing.grow(5)
    after(growing.give_up)
    with pytest.raises(FetchCancelledError):
        growing.wait(10, never)
    with pytest.raises(FetchCancelledError):
        growing.wait(1, never)
    growing.close()


def test_who_has_lost_interest_waits_for_nothing(growing: GrowingFile) -> None:
    with pytest.raises(FetchCancelledError):
        growing.wait(10, lambda: True)
    with pytest.raises(FetchCancelledError):
        growing.wait_for_end(lambda: True)
    growing.close()

import struct

import pytest

from smlocal.engine.output import timestamped_lines


def frame(payload: bytes, stream: int = 1) -> bytes:
    return struct.pack(">B3xI", stream, len(payload)) + payload


STAMPED = [
    (b"2026-11-20T14:12:07.500000000Z one\n", 1795183927.5, b"one\n"),
    (b"2026-11-20T14:12:08.25Z two words\n", 1795183928.25, b"two words\n"),
    (b"2026-11-20T14:12:08Z \n", 1795183928.0, b"\n"),
    (b"2026-11-20T14:12:08.000000001Z \xff\x00", 1795183928.0, b"\xff\x00"),
]


@pytest.mark.parametrize("size", [1, 7, 9, 40, 1000])
def test_times_are_taken_off_however_the_reads_fall(size: int) -> None:
    stream = b"".join(frame(payload) for payload, _, _ in STAMPED)
    reads = [stream[start : start + size] for start in range(0, len(stream), size)]
    found = list(timestamped_lines(reads, docker=False))
    assert [rest for _, rest in found] == [rest for _, _, rest in STAMPED]
    assert [at for at, _ in found] == pytest.approx([at for _, at, _ in STAMPED], abs=1e-6)


@pytest.mark.parametrize("payload", [b"no time\n", b"2026-13-20T14:12:07Z x", b"2026-11-20T14:12:07.xZ x", b"Z x"])
def test_what_has_no_time_is_kept_whole(payload: bytes) -> None:
    assert list(timestamped_lines([frame(payload)], docker=False)) == [(None, payload)]


def test_a_frame_that_was_cut_off_is_not_shown() -> None:
    stream = frame(STAMPED[0][0]) + frame(STAMPED[1][0])[:-1]
    assert [rest for _, rest in timestamped_lines([stream], docker=True)] == [b"one\n"]


def test_a_long_line_in_parts_is_put_together_and_came_with_its_end() -> None:
    parts = [
        frame(b"2026-11-20T14:12:07Z out "),
        frame(b"2026-11-20T14:12:08Z err\n", 2),
        frame(b"2026-11-20T14:12:09Z put\n"),
    ]
    assert list(timestamped_lines(parts, docker=False)) == [(1795183928.0, b"err\n"), (1795183929.0, b"out put\n")]


def test_docker_leaves_out_the_newline_of_a_line_in_parts() -> None:
    stamp = b"2026-11-20T14:12:07Z "
    parts = [frame(stamp + b"x" * size) for size in (16384, 16384, 3, 16384, 0)]
    found = [line for _, line in timestamped_lines(parts, docker=True)]
    assert found == [b"x" * 32771 + b"\n", b"x" * 16384 + b"\n"]

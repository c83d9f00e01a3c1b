import threading
from collections.abc import Callable

import pytest

from smlocal.engine.docker import DockerEngine
from smlocal.engine.interface import ContainerSpec, Resource, ResourceKind
from smlocal.errors import EngineError

Run = Callable[..., tuple[int, bytes]]
Spec = Callable[..., ContainerSpec]


def test_no_line_is_lost_on_either_stream(run: Run) -> None:
    code, written = run("seq 1 100000 & seq 100001 200000 >&2; wait")
    assert code == 0
    lines = written.split(b"\n")
    # A stream's pieces may cut into the other's lines; every byte is there and each stream keeps its order.
    assert sum(len(line) for line in lines) == sum(len(str(number)) for number in range(1, 200_001))
    assert len(lines) == 200_001


def test_one_stream_comes_byte_for_byte(run: Run) -> None:
    assert run("seq 1 200000") == (0, "".join(f"{number}\n" for number in range(1, 200_001)).encode())


def test_bytes_that_are_no_text_come_unchanged(run: Run) -> None:
    assert run(r"echo -ne 'a\xff\x00\xfe\r\x01\x00\x00\x00'") == (0, b"a\xff\x00\xfe\r\x01\x00\x00\x00")


def test_a_line_of_megabytes_without_an_end(run: Run) -> None:
    code, written = run("dd if=/dev/zero bs=1M count=5 2>/dev/null")
    assert (code, len(written), written.strip(b"\0")) == (0, 5 * 1024 * 1024, b"")


def test_a_piece_comes_when_it_is_written_not_at_the_end(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("echo first; sleep 600"))
    output = engine.attach(container)
    engine.start(container)
    assert next(iter(output)) == b"first\n"
    assert engine.state(container).status == "running"
    output.close()


def test_closing_from_another_thread_ends_the_iteration(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("sleep 600"))
    output = engine.attach(container)
    engine.start(container)
    pieces: list[bytes] = []
    reader = threading.Thread(target=lambda: pieces.extend(output))
    reader.start()
    reader.join(0.2)
    assert reader.is_alive()
    output.close()
    reader.join()
    assert pieces == []
    output.close()
    assert engine.state(container).status == "running"


def test_closing_in_the_middle_of_a_flood(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("yes"))
    output = engine.attach(container)
    engine.start(container)
    seen = threading.Event()
    total = 0

    def read() -> None:
        nonlocal total
        for piece in output:
            total += len(piece)
            if total > 1_000_000:
                seen.set()

    reader = threading.Thread(target=read)
    reader.start()
    seen.wait()
    output.close()
    reader.join()
    assert total > 1_000_000


def test_an_output_nobody_reads_can_be_closed(engine: DockerEngine, spec: Spec) -> None:
    engine.attach(engine.create(spec())).close()


def test_the_stream_ends_when_the_container_is_removed(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("echo here; sleep 600"))
    output = iter(engine.attach(container))
    engine.start(container)
    assert next(output) == b"here\n"
    engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    assert list(output) == []


def test_attaching_to_what_is_not_there(engine: DockerEngine) -> None:
    with pytest.raises(EngineError, match="No such container") as caught:
        engine.attach("smlocal-never-made")
    assert caught.value.status == 404

import threading
from collections.abc import Callable

import pytest

from smlocal.engine.docker import DockerEngine
from smlocal.engine.interface import ContainerSpec, Resource, ResourceKind, Written
from smlocal.errors import EngineError

Run = Callable[..., tuple[int, bytes]]
Spec = Callable[..., ContainerSpec]


def test_no_line_of_two_streams_is_lost_or_cut(run: Run) -> None:
    code, written = run("seq 1 100000 & seq 100001 200000 >&2; wait")
    assert code == 0
    numbers = [int(line) for line in written.splitlines()]
    assert [number for number in numbers if number <= 100_000] == list(range(1, 100_001))
    assert [number for number in numbers if number > 100_000] == list(range(100_001, 200_001))


def test_a_line_in_pieces_is_whole_when_the_other_stream_writes_between_them(run: Run) -> None:
    script = """
        echo -n 'loss='; sleep 0.3; echo -n 'bar 1%' >&2; sleep 0.3; echo 0.5
        echo -n out; sleep 0.3; echo -n ' 2%' >&2
    """
    code, written = run(script)
    assert code == 0
    assert sorted(written.splitlines()) == [b"bar 1% 2%", b"loss=0.5", b"out"]  # a busy engine may be late with either


def test_the_engines_copy_has_whole_lines_too(engine: DockerEngine, spec: Spec) -> None:
    # The engine keeps a line of more than 16 KiB in parts, with lines of the other stream between them.
    script = """
        x=0123456789; for i in 1 2 3 4 5 6 7 8 9 10 11; do x=$x$x; done
        echo -n $x; sleep 0.3; echo short >&2; sleep 0.3; echo $x
    """
    container = engine.create(spec(script))
    engine.start(container)
    engine.wait(container)
    lines = sorted(line for _, line in engine.logs(container))  # a busy engine may be late with either
    assert lines == [b"0123456789" * 4096 + b"\n", b"short\n"]


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
    assert next(iter(output)).lines == b"first\n"
    assert engine.state(container).status == "running"
    output.close()


def test_closing_from_another_thread_ends_the_iteration(engine: DockerEngine, spec: Spec) -> None:
    container = engine.create(spec("sleep 600"))
    output = engine.attach(container)
    engine.start(container)
    pieces: list[Written] = []
    reader = threading.Thread(target=lambda: pieces.extend(output))
    reader.start()
    reader.join(0.2)  # passes: nothing is written
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
        for written in output:
            total += len(written.lines)
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
    assert next(output).lines == b"here\n"
    engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
    assert list(output) == []


def test_attaching_to_what_is_not_there(engine: DockerEngine) -> None:
    with pytest.raises(EngineError, match="No such container") as caught:
        engine.attach("smlocal-never-made")
    assert caught.value.status == 404

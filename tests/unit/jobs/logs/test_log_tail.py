from pathlib import Path

from smlocal.jobs.logs.log_readers import read_log_tail


def test_the_last_lines_as_the_service_shows_them(tmp_path: Path) -> None:
    log = tmp_path / "algo-1.log"
    log.write_bytes(b"".join(b"line\t%d\n" % number for number in range(100)) + b"\x1b[0m \xff no end")
    tail = read_log_tail("algo-1", str(log))
    assert tail is not None
    assert len(tail.lines) == 40
    assert tail.lines[0] == "line#01161"
    assert tail.lines[-1] == "#033[0m � no end"
    assert not tail.complete


def test_short_empty_and_missing_logs(tmp_path: Path) -> None:
    log = tmp_path / "algo-1.log"
    assert read_log_tail("algo-1", str(log)) is None
    log.write_bytes(b"")
    tail = read_log_tail("algo-1", str(log))
    assert tail is not None
    assert (tail.lines, tail.complete) == ((), True)
    log.write_bytes(b"one\n\nthree\n")
    tail = read_log_tail("algo-1", str(log))
    assert tail is not None
    assert (tail.lines, tail.complete) == (("one", "", "three"), True)


def test_a_line_without_end_is_cut_and_one_that_began_before_is_left_out(tmp_path: Path) -> None:
    log = tmp_path / "algo-1.log"
    log.write_bytes(b"x" * 300_000 + b"\nlast\n")
    tail = read_log_tail("algo-1", str(log))
    assert tail is not None
    assert (tail.lines, tail.complete) == (("last",), False)
    log.write_bytes("é".encode() * 200_000)
    tail = read_log_tail("algo-1", str(log))
    assert tail is not None
    (line,) = tail.lines
    assert line.startswith("é" * 100)
    assert line.endswith(" more characters)")
    assert len(line) < 2100

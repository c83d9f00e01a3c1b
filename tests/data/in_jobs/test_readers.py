"""Every mode with three kinds of reader, and much or many of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit.jobs import Ran, channel
from tests.kit.s3_servers import S3Server

RunJob = Callable[..., Ran]
ROOT = "/opt/ml/input/data"
PLACES = {"File": f"{ROOT}/train/a", "FastFile": f"{ROOT}/train/a", "Pipe": f"{ROOT}/train_0"}
BLOCKING = "import sys; sys.stdout.write(open(sys.argv[1], 'rb').read().decode())"
SELECTING = """
import os, select, sys
file = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
while select.select([file], [], [], 60)[0] and (data := os.read(file, 65536)):
    sys.stdout.write(data.decode())
"""
COUNTING = """
count = 0
with open(path, "rb", buffering=0) as file:
    while data := file.read(1 << 20):
        count += len(data)  # wc would look at each of them, for eight seconds
print(count)
"""


def script(reader: str, place: str) -> str:
    """What PID 1, a Python, does: hand over to the reader."""
    if reader == "cat":
        return f"import os; os.execvp('cat', ['cat', {place!r}])"
    return f"import sys; sys.argv = ['', {place!r}]; exec({BLOCKING if reader == 'blocking' else SELECTING!r})"


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
@pytest.mark.parametrize("reader", ["cat", "blocking", "selecting"])
def test_readers_of_s3(run_job: RunJob, s3_servers: Callable[[str], S3Server], mode: str, reader: str) -> None:
    s3 = s3_servers("rclone")
    bucket = s3.make_bucket()
    s3.put(bucket, "in/a", b"some text\n" * 20_000)
    ran = run_job(
        [channel(uri=f"s3://{bucket}/in/", mode=mode)], script(reader, PLACES[mode]), runs="py", env=s3.environment
    )
    assert ran.exit == 0, ran.reason + ran.log()
    assert ran.log() == "some text\n" * 20_000


def test_ten_epochs_are_left_early(run_job: RunJob, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "large").write_bytes(b"0123456789" * 1_000_000)
    read = f"for n in 0 1 2 3 4 5 6 7 8 9; do head -c 10 {ROOT}/train_$n; echo; done; cat {ROOT}/train_10 | wc -c"
    ran = run_job([channel(mode="Pipe")], read)
    assert ran.log() == "0123456789\n" * 10 + "10000000\n"


@pytest.mark.slow(5, others=True)
@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
def test_two_gibibytes(run_job: RunJob, tmp_path: Path, mode: str) -> None:
    (tmp_path / "data").mkdir()
    with (tmp_path / "data" / "a").open("wb") as file:
        file.truncate(2 << 30)
    ran = run_job([channel(mode=mode)], f"path = {PLACES[mode]!r}\n{COUNTING}", runs="py")
    assert ran.log() == f"{2 << 30}\n"


@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
def test_a_thousand_small_files(run_job: RunJob, tmp_path: Path, mode: str) -> None:
    (tmp_path / "data").mkdir()
    for number in range(1000):
        (tmp_path / "data" / f"{number:04}").write_text(f"{number:04}\n")
    place = f"{ROOT}/train_0" if mode == "Pipe" else f"{ROOT}/train/*"
    assert run_job([channel(mode=mode)], f"cat {place}").log() == "".join(f"{n:04}\n" for n in range(1000))


def test_four_channels_at_once(run_job: RunJob, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_bytes(bytes(5_000_000))
    names = ["one", "two", "three", "four"]
    read = " & ".join(f"(cat {ROOT}/{name}_0 {ROOT}/{name}_1 | wc -c) >/opt/ml/model/{name}" for name in names)
    ran = run_job([channel(name, mode="Pipe") for name in names], f"{read} & wait")
    assert {ran.model(name) for name in names} == {b"10000000\n"}

"""Logs of real containers: every byte kept, shown as the service shows it, with the times at which it came."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import Run, until
from tests.kit.fixtures import touch_inside

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ")


@pytest.fixture
def run_script(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> Run:
    """Runs a job without a file."""

    def run(name: str, script: str, *options: str) -> "subprocess.CompletedProcess[str]":
        job = ("--image", image("sh"), "--name", name, "--output", tmp_path / "out", "--env", f"SCRIPT={script}")
        return smlocal_run("run", *job, *options, check=True)

    return run


@pytest.mark.slow(2)
def test_what_no_text_is_made_of(run_script: Run, smlocal_run: Run, smlocal_home: Path) -> None:
    script = r"""
        printf 'tab\there\n\033[31mred\033[0m\n' >&2
        printf '10%%\r20%%\r30%%\n'
        printf '\377\376 no text\n'
        head -c 50000000 /dev/zero | tr '\0' x
        printf '\nno end'
    """
    done = run_script("logs-odd", script)
    log = smlocal_home / "jobs" / "logs-odd" / "logs" / "algo-1.log"
    assert log.stat().st_size == 9 + 13 + 12 + 11 + 50_000_000 + 1 + 6
    # On the screen, and with --raw, the bytes are as they were.
    head, tail = "10%\r20%\r30%\n", "\nno end"
    raw = smlocal_run("logs", "logs-odd", "--raw").stdout
    for shown in (done.stdout, raw):
        assert "tab\there\n\x1b[31mred\x1b[0m\n" in shown
        # Python reads text with all kinds of line ends as one.
        assert head.replace("\r", "\n") in shown
        assert shown.endswith(tail)
    view = smlocal_run("logs", "logs-odd").stdout
    assert "tab#011here\n#033[31mred#033[0m\n" in view
    assert "10%#01520%#01530%\n\ufffd\ufffd no text\n" in view
    assert view.endswith(tail)
    assert view.count("x") >= 50_000_000


@pytest.mark.slow(2)
def test_a_million_lines_and_not_one_less(run_script: Run, smlocal_run: Run, smlocal_home: Path) -> None:
    run_script("logs-million", "seq 1000000 | sed 's/^/line /'", "--quiet")
    lines = smlocal_run("logs", "logs-million", "--timestamps").stdout.splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == [str(number) for number in range(1, 1_000_001)]
    stamps = [line.partition(" ")[0] for line in lines]
    assert stamps == sorted(stamps)
    times = smlocal_home / "jobs" / "logs-million" / "logs" / "algo-1.times"
    assert times.stat().st_size < 16 * 100 * 300


TWO_STREAMS = """
import os

LINES = 30_000
# As C does it: stdout in blocks, whatever line that cuts, stderr at once and in parts.
block = b""
for n in range(LINES):
    block += b"train_loss=%d.25 and something more of stdout\\n" % n
    os.write(2, b"\\r%d%%|####" % n)
    os.write(2, b"    | error_rate=%d.75\\n" % n)
    while len(block) >= 4096:
        os.write(1, block[:4096])
        block = block[4096:]
os.write(1, block + b"out")
os.write(2, b"err")
os.write(1, b" without an end")
"""
OUT_LINE = re.compile(rb"train_loss=(\d+)\.25 and something more of stdout")
ERR_LINE = re.compile(rb"\r(\d+)%\|####    \| error_rate=\1\.75")


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize("hosts", [1, 2])
def test_each_line_of_two_streams_is_whole(
    hosts: int, smlocal_run: Run, image: Callable[[str], str], smlocal_home: Path, tmp_path: Path
) -> None:
    request = {
        "AlgorithmSpecification": {
            "TrainingImage": image("py"),
            "TrainingInputMode": "File",
            "MetricDefinitions": [
                {"Name": "loss", "Regex": "train_loss=([0-9.]+)"},
                {"Name": "errors", "Regex": "error_rate=([0-9.]+)"},
            ],
        },
        "Environment": {"SCRIPT": TWO_STREAMS},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts},
    }
    (tmp_path / "job.json").write_text(json.dumps(request))
    name = f"logs-streams-{hosts}"
    with (tmp_path / "screen").open("wb") as screen:
        command = [sys.executable, "-m", "smlocal", "run", "job.json", "--name", name]
        environment = {**os.environ, "SMLOCAL_HOME": str(smlocal_home)}
        subprocess.run(command, cwd=tmp_path, env=environment, stdout=screen, check=True, timeout=300)
    shown = (tmp_path / "screen").read_bytes()
    for host in [f"algo-{number}" for number in range(1, hosts + 1)]:
        _check_streams((smlocal_home / "jobs" / name / "logs" / f"{host}.log").read_bytes())
        if hosts > 1:
            mark = f"{host} | ".encode()
            _check_streams(b"\n".join(line.removeprefix(mark) for line in shown.split(b"\n") if line.startswith(mark)))
    if hosts == 1:
        _check_streams(shown)
    values = json.loads(smlocal_run("metrics", name, "--json").stdout)["Values"]
    for host in [f"algo-{number}" for number in range(1, hosts + 1)]:
        for metric, fraction in (("loss", 0.25), ("errors", 0.75)):
            found = [each["Value"] for each in values if (each["MetricName"], each["Host"]) == (metric, host)]
            assert found == [n + fraction for n in range(30_000)]


def _check_streams(log: bytes) -> None:
    """Every line is one of either stream, each stream has all of them in order, and the last lines have no end."""
    *lines, last_but_one, last = log.split(b"\n")
    assert sorted([last_but_one, last]) == [b"err", b"out without an end"]
    out = [int(found[1]) for line in lines if (found := OUT_LINE.fullmatch(line))]
    err = [int(found[1]) for line in lines if (found := ERR_LINE.fullmatch(line))]
    assert out == list(range(30_000))
    assert err == list(range(30_000))
    assert len(lines) == 60_000


def test_each_line_is_whole_after_a_takeover(smlocal_run: Run, image: Callable[[str], str], smlocal_home: Path) -> None:
    # A line longer than the parts in which the engine keeps it, with a line of the other stream inside it.
    script = (
        "import os, time\nos.write(1, b'x' * 30_000)\ntime.sleep(0.5)\nos.write(2, b'short\\n')\n"
        "while not os.path.exists('/opt/ml/output/go'): time.sleep(0.05)\n"
        "os.write(1, b'y' * 30_000 + b'\\n')\nos.write(1, b'after\\n')"
    )
    job = ("--image", image("py"), "--name", "logs-takeover", "--env", f"SCRIPT={script}")
    smlocal_run("run", *job, "--detach", check=True)
    log = smlocal_home / "jobs" / "logs-takeover" / "logs" / "algo-1.log"
    until(lambda: log.exists() and log.read_bytes() == b"short\n")
    pid = re.search(r"process (\d+)", smlocal_run("describe", "logs-takeover").stdout)
    assert pid is not None
    os.kill(int(pid[1]), signal.SIGKILL)
    touch_inside(smlocal_home / "jobs" / "logs-takeover" / "hosts" / "algo-1" / "output" / "go")
    smlocal_run("wait", "logs-takeover", check=True)
    assert log.read_bytes() == b"short\n" + b"x" * 30_000 + b"y" * 30_000 + b"\nafter\n"


def test_two_hosts_with_times(run_script: Run, smlocal_run: Run) -> None:
    run_script("logs-two", "echo one; sleep 0.5; printf two", "--instance-count", "2")
    lines = smlocal_run("logs", "logs-two", "--timestamps").stdout.splitlines()
    assert [STAMP.sub("", line) for line in lines] == [
        f"{host} | {word}" for host in ("algo-1", "algo-2") for word in ("one", "two")
    ]
    for one, two in (lines[:2], lines[2:]):
        assert one < two


def test_the_times_of_an_adopted_job_are_the_engines(run_script: Run, smlocal_run: Run, smlocal_home: Path) -> None:
    script = "printf 'a\\tb\\n'; until [ -e /opt/ml/output/go ]; do sleep 0.05; done; sleep 1.1; echo after; printf end"
    run_script("logs-adopted", script, "--detach")
    folder = smlocal_home / "jobs" / "logs-adopted"
    until(lambda: (folder / "logs" / "algo-1.log").exists() and (folder / "logs" / "algo-1.log").stat().st_size > 0)
    pid = re.search(r"process (\d+)", smlocal_run("describe", "logs-adopted").stdout)
    assert pid is not None
    os.kill(int(pid[1]), signal.SIGKILL)
    touch_inside(folder / "hosts" / "algo-1" / "output" / "go")
    followed = smlocal_run("logs", "--follow", "--timestamps", "logs-adopted").stdout.splitlines()
    assert [STAMP.sub("", line) for line in followed] == ["a#011b", "after", "end"]
    first, after, _ = (STAMP.match(line) for line in followed)
    assert first is not None
    assert after is not None
    assert first[0] < after[0]

"""How much a run says: quiet, and at the end of a failed run."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]

FAILS = "echo said; printf why >/opt/ml/output/failure; exit 3"


def test_a_quiet_run_that_fails_says_why(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    job = ("--image", image("sh"), "--output", "out", "--quiet")
    done = smlocal_run("run", *job, "--name", "quiet-bad", "-e", f"SCRIPT={FAILS}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "said\n")
    assert done.stderr == "Failed: AlgorithmError: why, exit code: 3\n"
    done = smlocal_run("run", *job, "--name", "quiet-good", "-e", "SCRIPT=echo said", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "said\n", "")


def test_a_failure_shows_the_last_lines_of_the_host_that_failed(
    smlocal_run: Run, image: Callable[[str], str], tmp_path: Path
) -> None:
    script = (
        'for i in $(seq 40); do echo "$(hostname) line $i"; done; '
        'if grep -q \'"current_host":"algo-2"\' /opt/ml/input/config/resourceconfig.json; then '
        "until nc algo-1 4000 </dev/null 2>/dev/null; do sleep 0.1; done; exit 3; fi; "  # once its peer has a trap
        "trap 'exit 143' TERM; nc -l -p 4000 </dev/null; sleep 60 & wait"
    )
    job = ("--image", image("sh"), "--output", "out", "--instance-count", "2", "--json")
    done = smlocal_run("run", *job, "--name", "two-bad", "-e", f"SCRIPT={script}", cwd=tmp_path)
    assert done.returncode == 1
    local = json.loads(done.stdout)["Local"]
    assert local["FailedHost"] == "algo-2"
    lines = done.stderr.splitlines()
    (head,) = (number for number, line in enumerate(lines) if line.startswith("Last lines of"))
    assert lines[head] == "Last lines of algo-2"
    shown = [line for line in lines[head + 1 :] if " line " in line]
    assert [line.rpartition(" ")[2] for line in shown] == [str(number) for number in range(21, 41)]

"""Other users of this machine who can see a job's secret."""

import html
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kit import Run, until
from tests.kit.fixtures import touch_inside


def command_lines() -> Iterator[tuple[str, bytes]]:
    """What `ps` shows of every process."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            yield process.name, (process / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended


def open_to_others(folder: Path) -> Iterator[Path]:
    """Files below a folder that any user of this machine can read."""
    for entry in folder.iterdir():
        status = entry.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_IXOTH:
            yield from open_to_others(entry)
        elif stat.S_ISREG(status.st_mode) and status.st_mode & stat.S_IROTH:
            yield entry


@pytest.mark.slow(1)
def test_no_command_line_and_no_open_file_has_it(
    tmp_path: Path, smlocal_home: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    secret = f"hunter2-{os.urandom(8).hex()}"
    smlocal_home.mkdir(exist_ok=True)
    smlocal_home.chmod(0o755)  # as a folder is that the user made
    (tmp_path / "secrets").write_text(f"FROM_FILE_TOKEN={secret}\n")
    work = 'echo "$API_TOKEN $FROM_FILE_TOKEN"; until [ -e /opt/ml/output/data/over ]; do sleep 0.1; done'
    flags = ("-e", "API_TOKEN", "--env-file", "secrets", "-e", f"SCRIPT={work}", "-o", "out", "--max-run", "1000")
    started = smlocal_run(
        *("run", "-d", "--image", image("sh"), "--name", "secret-held", *flags),
        cwd=tmp_path,
        env={"API_TOKEN": secret},
        check=True,
    )
    assert secret not in started.stdout + started.stderr
    shown = [name for name, line in command_lines() if secret.encode() in line]
    over = smlocal_home / "jobs" / "secret-held" / "hosts" / "algo-1" / "output" / "data" / "over"
    until(lambda: secret in smlocal_run("logs", "secret-held").stdout)
    shown += [name for name, line in command_lines() if secret.encode() in line]
    touch_inside(over)
    assert smlocal_run("wait", "secret-held", "--timeout", "200").returncode == 0
    assert shown == []
    assert smlocal_run("logs", "secret-held").stdout == f"{secret} {secret}\n"

    assert not [file for file in open_to_others(smlocal_home) if secret.encode() in file.read_bytes()]
    for name in ("request.json", "plan.json", "describe.json"):
        assert stat.S_IMODE((smlocal_home / "jobs" / "secret-held" / name).stat().st_mode) == 0o600
    # The service's answer has what was asked for; what is meant for people has not.
    answer = json.loads(smlocal_run("describe", "secret-held", "--service").stdout)
    assert answer["Environment"]["API_TOKEN"] == secret
    assert secret not in smlocal_run("describe", "secret-held").stdout
    page = smlocal_run("report", "secret-held", "--html", "-").stdout
    assert '"API_TOKEN": "(withheld)"' in html.unescape(page)

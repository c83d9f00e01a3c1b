import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from tests.doors.cli.terminal import Terminal

LINK = re.compile(rb"\x1b\]8;;file://[^/]*(/[^\x1b]*)\x1b\\([^\x1b]*)\x1b\]8;;\x1b\\")


def test_the_end_of_a_run_opens_the_model(smlocal_home: Path, image: Callable[[str], str], tmp_path: Path) -> None:
    terminal = Terminal(columns=80, rows=60)
    job = ("--image", image("sh"), "--name", "linked", "-o", "out", "-e", "SCRIPT=echo x >/opt/ml/model/m")
    terminal.start(
        [sys.executable, "-m", "smlocal", "run", *job],
        cwd=str(tmp_path),
        environment={
            **{name: value for name, value in os.environ.items() if name not in {"CI", "TMUX", "NO_COLOR"}},
            "SMLOCAL_HOME": str(smlocal_home),
            "TERM": "xterm-kitty",
        },
    )
    assert terminal.end(seconds=120) == 0
    [(target, shown)] = LINK.findall(terminal.raw)
    assert Path(os.fsdecode(target)).is_file()
    assert shown == b"./out/linked/output/model.tar.gz"
    assert [line for line in terminal.lines if line.startswith("  model     ./out/linked/output/model.tar.gz  ")]

"""Control characters of others never reach the terminal; documents keep them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest
from tests.kit import Run

from smlocal.cli.terminal.printable import printable
from smlocal.cli.views.summary import summary
from smlocal.sagemaker.training.showing import view_of

HOSTILE = "AlgorithmError: \x1b]0;title\x07\x1b[2J\x9b31mred\rover\x08\x7f, exit code: 1"
SHOWN = r"AlgorithmError: \x1b]0;title\x07\x1b[2J\x9b31mred\rover\x08\x7f, exit code: 1"


def test_only_tabs_and_line_ends_stay() -> None:
    every = "".join(map(chr, range(0x100)))
    assert [char for char in printable(every) if category(char) == "Cc"] == ["\t", "\n"]
    assert printable("dos\r\nlines\r\n") == "dos\nlines\n"
    assert printable(HOSTILE) == SHOWN
    assert printable("model\u202egpj.exe\u2066x") == r"model\u202egpj.exe\u2066x"


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("command", [("describe", "bad"), ("jobs",)])
def test_a_failure_file_is_shown_and_not_obeyed(
    command: tuple[str, ...], remember: Callable[..., None], smlocal: Run
) -> None:
    remember("bad", reason=HOSTILE)
    shown = smlocal(*command).stdout
    assert r"\x1b]0;title" in shown
    assert not {"\x1b", "\x07", "\x08", "\x9b", "\x7f"} & set(shown)
    document = json.loads(smlocal(*command, "--json").stdout)
    jobs: list[dict[str, Any]] = document.get("TrainingJobSummaries", [document])
    assert jobs[0]["FailureReason"] == HOSTILE


def test_an_error_shows_what_it_names(smlocal: Run) -> None:
    refused = smlocal("describe", "\x1b[2Jjob")
    assert refused.returncode == 2
    assert r"\x1b[2Jjob" in refused.stderr
    assert "\x1b" not in refused.stderr


def test_the_end_of_a_run(tmp_path: Path) -> None:
    log = tmp_path / "algo-1.log"
    log.write_bytes(b"\x1b[31mred\x1b[0m\n\x1b[2J\x1b]0;title\x07gone\n")
    answer = {
        "TrainingJobName": "bad",
        "TrainingJobStatus": "Failed",
        "SecondaryStatus": "Failed",
        "FailureReason": HOSTILE,
        "CreationTime": 1.0,
        "LastModifiedTime": 2.0,
        "Local": {
            "Explanation": "\x1bP1",
            "Hints": ["\x1bP2"],
            "FailedHost": "algo-1",
            "Hosts": [{"Name": "algo-1", "ExitCode": 1, "Signalled": False, "Log": str(log)}],
            "Artifacts": {"Model": None, "Output": None, "Notes": ["\x1bP3"]},
            "Leftovers": ["\x1bP4"],
            "Notes": [],
        },
    }
    text = summary(view_of(answer))
    assert "\x1b" not in text
    assert SHOWN in text
    assert "  red\n" in text
    assert r"  \x1b[2J\x1b]0;title\x07gone" in text
    assert all(rf"\x1bP{number}" in text for number in range(1, 5))

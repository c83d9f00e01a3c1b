"""What the evaluator of a rule tells whoever waits for it."""

import time
from itertools import pairwise
from pathlib import Path

import pytest
from smlocal_rules.status import Progress

from smlocal.debugger.rule_container import read_result, sign_of_progress


def test_only_what_was_not_read_before_is_a_sign_of_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path)
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    signs = [sign_of_progress(folder)]
    progress = Progress(folder)
    for now, step in ((0.0, 1), (0.5, 2), (2.0, 2), (4.0, 1), (6.0, 3)):  # noqa: B007 - the clock reads it
        progress.read(step)
        signs.append(sign_of_progress(folder))
    changed = [one != other for one, other in pairwise(signs)]
    assert changed == [True, False, False, False, True]
    result = read_result(folder)
    assert result is not None
    assert not result.status.terminal

"""Built-in rules on sick and healthy runs of a few seeds, of which findings.md has more."""

from pathlib import Path

import pytest
from tests.jobs.rules.rule_findings import QUESTIONS, findings

pytestmark = [pytest.mark.slow(88), pytest.mark.large("tests/jobs/rules/requirements-of-rules.txt")]

FIRST, SEEDS = 1000, 2
"""Other seeds than those of the table, by which nothing was chosen."""


@pytest.mark.long
def test_sick_runs_of_any_seed_are_found_and_healthy_ones_are_not(tmp_path: Path) -> None:
    found = findings(tmp_path, FIRST, SEEDS)
    wrong = [
        f"{question.rule} on {question.run}: {found[number]} of {SEEDS}"
        for number, question in enumerate(QUESTIONS)
        if question.certain and found[number] != SEEDS * question.sick
    ]
    assert wrong == []

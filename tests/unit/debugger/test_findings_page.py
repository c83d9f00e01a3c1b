"""The table of what the rules find, which the page of the rules names."""

import re

from smlocal_rules.registry import BUILT_IN
from tests.jobs.rules.rule_findings import FEWEST_SEEDS, PAGE, QUESTIONS, markdown


def test_every_rule_is_judged_by_sick_and_healthy_runs() -> None:
    for sick in (True, False):
        assert {question.rule for question in QUESTIONS if question.sick is sick} == set(BUILT_IN)


def test_the_page_has_the_runs_that_are_trained() -> None:
    table = PAGE.read_text(encoding="utf-8")
    (seeds,) = re.findall(r"^Seeds 0 to \d+, (\d+) runs of each kind\.$", table, re.MULTILINE)
    assert int(seeds) >= FEWEST_SEEDS
    trained = markdown(dict.fromkeys(range(len(QUESTIONS)), 0), 0, int(seeds))
    assert re.sub(r"(?<=\| )\d+(?= of \d+ \|)", "0", table) == trained, "run scripts/generate-debugger-findings"


def test_the_page_shows_that_sick_runs_are_found_and_healthy_ones_are_not() -> None:
    table = PAGE.read_text(encoding="utf-8")
    rules = re.findall(r"^\| \w+ \| .+ \| (\d+) of (\d+) \| .+ \| (\d+) of (\d+) \|$", table, re.MULTILINE)
    assert len(rules) == len(BUILT_IN)
    losses = re.findall(r"\| (sick|healthy) \| (\d+) of (\d+) \|$", table, re.MULTILINE)
    assert len(losses) > 20
    sick = [*((hits, of) for hits, of, _, _ in rules), *((hits, of) for kind, hits, of in losses if kind == "sick")]
    healthy = [*((hits, of) for _, _, hits, of in rules), *((hits, of) for kind, hits, of in losses if kind != "sick")]
    assert all(int(hits) >= 0.95 * int(of) for hits, of in sick), sick
    assert all(int(hits) <= 0.05 * int(of) for hits, of in healthy), healthy

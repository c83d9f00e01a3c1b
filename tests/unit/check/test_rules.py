"""What holds for every rule."""

import re
from pathlib import Path

import pytest
from pages.checks import checks_markdown

from smlocal.check import registry
from smlocal.check.interface import Rule

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "src" / "smlocal" / "check" / "rules"
RULES = registry.all_rules()


def test_every_file_is_a_rule_and_every_rule_a_file_of_its_name() -> None:
    files = {path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"}
    assert files == set(registry.RULES)
    assert [rule.id for rule in RULES] == [name.replace("_", "-") for name in registry.RULES]


def test_the_page_is_that_of_the_rules() -> None:
    assert (ROOT / "docs" / "checks.md").read_text() == checks_markdown(), "run scripts/generate-checks"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_says_everything(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.id)
    assert rule.title[-1] not in ".:"
    assert rule.title[0].isupper()
    assert rule.why.endswith(".")
    assert rule.remedy.endswith(".")
    assert rule.example is not None, "an example that a test builds"

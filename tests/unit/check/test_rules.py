"""Rules for every rule."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from pages.checks import checks_markdown

from smlocal.check import registry
from smlocal.check.interface import Rule

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "src" / "smlocal" / "check" / "rules"
RULES = registry.all_rules()


def test_every_rule_of_every_file_is_one_of_the_rules() -> None:
    files = [path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"]
    modules = [vars(import_module(f"smlocal.check.rules.{name}")) for name in files]
    made = [each.id for module in modules for each in module.values() if isinstance(each, Rule)]
    assert sorted(made) == sorted({rule.id for rule in RULES}) == sorted(rule.id for rule in RULES)


def test_the_page_has_a_section_of_each_rule_that_the_table_links_to() -> None:
    page = checks_markdown()
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == [rule.id for rule in RULES]
    assert re.findall(r"^\| \[`[a-z-]+`\]\(#([a-z-]+)\) \|", page, re.MULTILINE) == [rule.id for rule in RULES]
    assert all(rule.why in page and f"What to do: {rule.remedy}" in page for rule in RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_says_everything(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.id)
    assert rule.title[-1] not in ".:"
    assert rule.title[0].isupper()
    assert rule.why.endswith(".")
    assert rule.remedy.endswith(".")
    assert rule.example is not None, "an example that a test builds"

"""The page of the rules."""

from pathlib import Path

from pages.debugger_rules import rules_markdown

PAGE = Path(__file__).parents[3] / "docs" / "debugger-rules.md"


def test_it_says_what_the_classes_say() -> None:
    assert PAGE.read_text(encoding="utf-8").endswith(" do not edit. -->\n\n" + rules_markdown()), (
        "run scripts/generate-debugger-rules"
    )

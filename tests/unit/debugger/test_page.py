"""The sections about the built-in rules."""

import re

from pages.debugger_rules import rules_markdown
from smlocal_rules.registry import BUILT_IN


def test_every_built_in_rule_has_a_section_with_its_parameters() -> None:
    sections = re.split(r"^## (.+)$", rules_markdown(), flags=re.MULTILINE)[1:]
    assert sections[::2] == sorted(BUILT_IN)
    assert all("| parameter | default | meaning |" in text for text in sections[1::2])

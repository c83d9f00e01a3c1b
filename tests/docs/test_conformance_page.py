from collections.abc import Callable

from pages.inserted import with_tables

from smlocal.service.conformance.cases import ConformanceCase
from smlocal.service.conformance.differences import DIFFERENCE_RULES
from smlocal.service.conformance.probe import _LOOKS


def test_the_page_has_every_rule_every_job_and_every_look(
    page: Callable[[str], str], sections: Callable[[str], dict[str, str]], rows: Callable[[str], list[list[str]]]
) -> None:
    parts = sections(with_tables(page("conformance.md")))
    assert rows(parts["What is not compared"]) == [[f"`{rule.id}`", rule.why] for rule in DIFFERENCE_RULES]
    assert [row[0].strip("`") for row in rows(parts["Here"])] == [*ConformanceCase]
    looks = [name for name, _ in _LOOKS]
    assert sorted(row[0].strip("`") for row in rows(parts["The document"])) == sorted([*looks, "Signals"])

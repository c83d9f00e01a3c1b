"""Tables from the code in the middle of a page: a line of the page says where, and the site has the table there."""

import re

from pages.failures import reasons_table
from pages.notes import notes_table
from pages.operations import operations_table
from pages.settings import keywords_table, refused_settings, result_table, settings_table

from smlocal.cli.help_topics import TOPICS
from smlocal.service.conformance.differences import DIFFERENCE_RULES

MARKER = re.compile(r"^<!-- from the code: ([a-z ]+)(?:: (.+))? -->$", flags=re.MULTILINE)
"""Such as `<!-- from the code: reasons: Memory -->`. A reader of the repository sees nothing there."""


def with_tables(markdown: str) -> str:
    """The page, with a table in place of each such line."""
    return MARKER.sub(lambda found: _table(found[1], found[2]), markdown)


def _table(name: str, part: str | None) -> str:
    if name in _OF_PARTS and part is not None:
        return _OF_PARTS[name](part)
    if name in _TABLES and part is None:
        return _TABLES[name]()
    raise ValueError(f"no table is called {name}")


def _topic(name: str) -> str:
    """What `smlocal help NAME` prints below its heading, as a block."""
    lines = TOPICS[name].rstrip().split("\n")[2:]
    return "\n".join(("<!-- output -->\n", *(f"    {line}" if line else "" for line in lines)))


def _rules_of_conformance() -> str:
    rows = (f"| `{rule.id}` | {rule.why} |" for rule in DIFFERENCE_RULES)
    return "\n".join(("| rule | what is left out |\n|---|---|", *rows))


_TABLES = {
    "conformance rules": _rules_of_conformance,
    "keywords": keywords_table,
    "local block": result_table,
    "local settings": settings_table,
    "notes": notes_table,
    "operations": operations_table,
    "refused settings": refused_settings,
}
_OF_PARTS = {"reasons": reasons_table, "topic": _topic}
"""Those of which a page has several."""

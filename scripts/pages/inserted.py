"""Tables from the code in the middle of a page: a line of the page says where, and the site has the table there."""

import re

from pages.failures import reasons_table
from pages.notes import notes_table
from pages.settings import result_table, settings_table

MARKER = re.compile(r"^<!-- from the code: ([a-z ]+)(?:: (.+))? -->$", flags=re.MULTILINE)
"""Such as `<!-- from the code: reasons: Memory -->`. A reader of the repository sees nothing there."""


def with_tables(markdown: str) -> str:
    """The page, with a table in place of each such line."""
    return MARKER.sub(lambda found: _table(found[1], found[2] or ""), markdown)


def _table(name: str, part: str) -> str:
    match name:
        case "reasons":
            return reasons_table(part)
        case "notes":
            return notes_table()
        case "local settings":
            return settings_table()
        case "local block":
            return result_table()
        case _:
            raise ValueError(f"no table is called {name}")

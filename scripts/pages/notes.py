"""The table of notes, from the one that `smlocal help ID` shows."""

from smlocal.cli.commands.help import note_rows


def notes_table() -> str:
    """In the order of the table."""
    rows = (f"| `{row.id}` | {row.when} | {row.meaning} |" for row in note_rows())
    return "\n".join(("| id | when | what it means |\n|---|---|---|", *rows))

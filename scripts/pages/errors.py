"""One section for each error, from the table that `smlocal help ID` shows."""

from smlocal.cli.commands.help import ErrorPage, error_rows


def errors_markdown() -> str:
    """In the order of the table."""
    return "\n".join(map(_section, error_rows()))


def _section(row: ErrorPage) -> str:
    texts = (("It says", row.says), ("Cause", row.cause), ("What to do", row.remedy))
    return "\n".join([f"## {row.id}\n\nExit code {row.exit_code}.\n", *(f"*{head}*: {text}\n" for head, text in texts)])

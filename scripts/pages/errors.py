"""One section for each error, from the table that `smlocal help ID` shows."""

from smlocal.cli.commands.help import error_rows


def errors_markdown() -> str:
    """In the order of the table."""
    return "\n".join(
        f"## {row.id}\n\nExit code {row.exit_code}.\n\n*It says*: {row.says}\n\n*Cause*: {row.cause}\n\n*What to do*: {row.remedy}\n"
        for row in error_rows()
    )

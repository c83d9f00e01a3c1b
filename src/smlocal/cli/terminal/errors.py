"""Print errors: what is wrong, where, what to do, and an id to search for."""

import json
import sys
from contextlib import suppress
from typing import Any

from smlocal.cli.terminal.layout import RED, paint, width_of, wrapped
from smlocal.cli.terminal.links import with_page_links
from smlocal.cli.terminal.printable import json_without_commands, own_lines, printable
from smlocal.errors import SmlocalError, UsageRefusedError
from smlocal.terms.masking import without_passwords

_WIDTH = 80


def error_document(error: SmlocalError) -> dict[str, Any]:
    """An error for programs."""
    return {
        "Id": error.id,
        "Sentence": without_passwords(error.sentence),
        "Details": [without_passwords(line) for line in error.details],
        "Remedy": [without_passwords(line) for line in error.remedy],
        "ExitCode": error.exit_code,
        **({"Command": error.command} if error.command else {}),
    }


def show_error(error: SmlocalError, *, debug: bool, as_json: bool) -> None:
    """Print an error to stderr, and with `as_json` as a document to stdout."""
    sentence, details, remedy = (
        without_passwords(error.sentence),
        [without_passwords(line) for line in error.details],
        [without_passwords(line) for line in error.remedy],
    )
    head, *more = printable(sentence).splitlines() or [""]
    mark = f"[{error.id}]"
    width = width_of(sys.stderr)
    if width is not None and len(head) + 9 + len(mark) > width:
        # The id stays at the right; the sentence continues on the next lines.
        first, *rest = wrapped(head, indent=7, width=width - len(mark) - 2)
        more = [*(line[2:] for line in rest), *more]
        head, room = first, width - len(first) - 7 - len(mark)
    else:
        right = _WIDTH if width is None else min(_WIDTH, width - len(mark))
        room = max(2, right - len(head) - 7)
    lines = [f"{paint('error:', RED)} {head}{' ' * max(2, room)}{mark}"]
    for line in (*more, *map(printable, (*details, *remedy))):
        hanging = 2 + len(line) - len(line.lstrip())
        lines.append(f"{' ' * hanging}" + "\n".join(wrapped(line.lstrip(), indent=hanging, width=width)))
    if error.id != UsageRefusedError.id:  # it names the help of the command
        lines.append(f"  More: smlocal help {error.id}")
    if error.command:
        lines.append(f"  {'next':<9} {printable(error.command)}")
    if debug:
        import traceback  # it brings modules of its own: in Python 3.15 pathlib and importlib.util

        lines.append(printable(without_passwords("".join(traceback.format_exception(error)))))
    with suppress(OSError):  # there is no place for the message
        print(with_page_links(own_lines("\n".join(lines)), sys.stderr), file=sys.stderr)  # noqa: T201 - output for the user
    if as_json:
        print(json_without_commands(json.dumps({"Error": error_document(error)}, indent=2)))  # noqa: T201 - likewise
    sys.stdout.flush()

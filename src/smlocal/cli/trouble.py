"""Errors on the screen: what, where, what to do, and an id to search for."""

import sys
import traceback

from smlocal.cli.colour import RED, paint
from smlocal.errors import SmlocalError

_WIDTH = 80


def show_error(error: SmlocalError, *, debug: bool, as_json: bool) -> None:
    """Print an error to stderr, and as a document to stdout where documents are expected there."""
    head, *more = error.sentence.splitlines() or [""]
    mark = f"[{error.id}]"
    lines = [f"{paint('error:', RED)} {head}{' ' * max(2, _WIDTH - len(head) - 7)}{mark}"]
    lines += [f"  {line}" for line in (*more, *error.details, *error.remedy)]
    if debug:
        lines.append("".join(traceback.format_exception(error)))
    print(*lines, sep="\n", file=sys.stderr)  # noqa: T201 - this is the face
    if as_json:
        import json

        document = {
            "Id": error.id,
            "Sentence": error.sentence,
            "Details": error.details,
            "Remedy": error.remedy,
            "ExitCode": error.exit_code,
        }
        print(json.dumps({"Error": document}, indent=2))  # noqa: T201 - likewise

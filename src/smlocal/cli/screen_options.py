"""Options about what a run shows, and what shows it."""

import sys
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.ci_messages import chosen_service
from smlocal.cli.shown_help import shown_option
from smlocal.cli.terminal.messages import PROGRESS_NAMES, PROGRESS_VARIABLE, ProgressMode, chosen_mode
from smlocal.cli.terminal.printable import chosen_changes
from smlocal.jobfile.option import Head

if TYPE_CHECKING:
    from smlocal.cli.terminal.screen import Screen

LINE_OPTIONS = (
    shown_option(
        "--timestamps", "-t", is_flag=True, help="Show the time of each line of output, in UTC.", head=Head.SCREEN
    ),
    shown_option(
        "--no-log-prefix",
        is_flag=True,
        help="With several hosts, leave out the name of the host before each line.",
        head=Head.SCREEN,
    ),
    shown_option(
        "--safe-output",
        is_flag=True,
        help="Show only text, tabs, carriage returns and colours of the containers' output.",
        head=Head.SCREEN,
    ),
)
SCREEN_OPTIONS = (
    *LINE_OPTIONS,
    shown_option(
        "--progress",
        type=click.Choice(PROGRESS_NAMES),
        envvar=PROGRESS_VARIABLE,
        help="How progress is shown on stderr. Default: auto, which is tty on a terminal and plain elsewhere.",
        head=Head.SCREEN,
    ),
    shown_option(
        "--quiet",
        "-q",
        is_flag=True,
        help="Print only the containers' output, and the reason if the job fails.",
        head=Head.SCREEN,
        common=True,
    ),
)


def mode_of(given: dict[str, Any]) -> ProgressMode:
    """The mode that the options ask for. `--quiet` counts before all others."""
    return chosen_mode(given["progress"], quiet=given["quiet"])


def screen_of(given: dict[str, Any], *, in_ci: bool | None = None) -> "Screen":
    """What shows the run. With `--json`, stdout is for the answer, and all output goes to stderr.

    `in_ci`: whether a CI service reads it; by default as the environment says.
    """
    mode = mode_of(given)
    output_to = (sys.stderr if given["as_json"] else sys.stdout).fileno()
    in_ci = chosen_service(None) is not None if in_ci is None else in_ci
    lines: Any = {"timestamps": given["timestamps"], "log_prefix": not given["no_log_prefix"]}
    if given["safe_output"] or in_ci:
        lines["changes"] = chosen_changes(safe=given["safe_output"], in_ci=in_ci, descriptor=output_to)
    if mode is ProgressMode.JSON:
        from smlocal.cli.terminal.event_screen import EventScreen

        return EventScreen(output_to=output_to, output_is_event=given["as_json"], **lines)
    from smlocal.cli.terminal.screen import Screen

    return Screen(output_to=output_to, mode=mode, **lines)

"""`smlocal rules`: what the debugger rules of a job have found, and the image that evaluates them."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from smlocal.base.at_use import at_use
from smlocal.cli.job_argument import job_argument
from smlocal.cli.shown_help import ShownGroup, shown_group
from smlocal.cli.terminal.layout import table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable

if TYPE_CHECKING:
    from smlocal.api.debugging import actions_of_rules, rules_of_job
    from smlocal.debugger.evaluator import build_evaluator
    from smlocal.engine.engines import connect
else:
    actions_of_rules = at_use("smlocal.api.debugging", "actions_of_rules")
    rules_of_job = at_use("smlocal.api.debugging", "rules_of_job")
    build_evaluator = at_use("smlocal.debugger.evaluator", "build_evaluator")
    connect = at_use("smlocal.engine.engines", "connect")

_HEAD = ("RULE", "STATUS", "STEP", "SINCE", "DETAILS")
_SHRINKABLE = ((0, 16), (4, 20))
_LOOK_SECONDS = 0.3


class _NameOrCommand(ShownGroup):
    """`smlocal rules NAME` is short for `smlocal rules show NAME`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Read an unknown command as the name of a job."""
        if args and args[0] not in self.commands:
            args = ["show", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options before the name are those of `show`."""
        if args and args[0] in {"--json", "--follow", "-f"}:
            args = ["show", *args]
        return super().parse_args(ctx, args)


@shown_group(
    "rules",
    cls=_NameOrCommand,
    examples=(
        ("smlocal rules my-job", "Show the rules of a job."),
        ("smlocal rules build", "Build the image of the rules."),
    ),
)
def command() -> None:
    """Show the debugger rules of a job, or build their image.

    `smlocal rules NAME` is short for `smlocal rules show NAME`.
    """


@command.command(
    "show",
    examples=(
        ("smlocal rules show my-job", "Show the rules of a job."),
        ("smlocal rules show my-job --follow", "Print each change until the job ends."),
    ),
)
@job_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--follow", "-f", is_flag=True, help="Print each change, until the job has ended.")
def show(*, name: str, as_json: bool, follow: bool) -> None:
    """Show the debugger rules of a job, finished or running."""
    if as_json and follow:
        raise click.UsageError("--json and --follow cannot be used together.")

    if follow:
        _follow(lambda: rules_of_job(name))
        return
    rules, _ = rules_of_job(name)
    actions = actions_of_rules(name)
    if as_json:
        click.echo(
            json_without_commands(json.dumps({"TrainingJobName": name, "Rules": rules, "Actions": actions}, indent=2))
        )
    elif not rules:
        click.echo(f"The job {name} has no debugger rules.", err=True)
    else:
        for line in table([_HEAD, *map(_row, rules)], width=width_of(sys.stdout), shrinkable=_SHRINKABLE):
            click.echo(line)
        for action in actions:
            click.echo(printable(f"{action['RuleConfigurationName']}: {_sentence(action)}"))


@command.command(
    "build",
    examples=(
        ("smlocal rules build", "Build the image of the rules."),
        ("smlocal rules build --base python:3.11-bookworm", "Build it on another image."),
    ),
)
@click.option("--base", metavar="IMAGE", help="An image with Python 3.11 and pip. Default: python:3.11-slim-bookworm.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the name of the image.")
def build(*, base: str | None, quiet: bool) -> None:
    """Build the image of the rules from published packages."""
    click.echo(build_evaluator(connect(), base=base, quiet=quiet))


def _follow(look: Callable[[], tuple[Sequence[dict[str, Any]], bool]]) -> None:
    """Print each change of what `look` returns: the rules, and whether all is over."""
    said: dict[str, str] = {}
    over = False
    while not over:
        rules, over = look()
        for rule in rules:
            if said.get(rule["RuleConfigurationName"]) != rule["RuleEvaluationStatus"]:
                said[rule["RuleConfigurationName"]] = rule["RuleEvaluationStatus"]
                parts = (part for part in _row(rule) if part)
                click.echo("  ".join(parts))
        if not over:
            time.sleep(_LOOK_SECONDS)


def _sentence(action: dict[str, Any]) -> str:
    if "Endpoint" in action:
        return f"{action['Action']} to {action['Endpoint']}, not sent: {' '.join(action['Message'].split())}"
    return f"the job {action['TrainingJobName']} was stopped"


def _row(rule: dict[str, Any]) -> tuple[str, ...]:
    details = rule.get("Reason") or rule.get("StatusDetails") or ""
    return (
        printable(rule["RuleConfigurationName"]),
        rule["RuleEvaluationStatus"],
        str(rule.get("Step", "")),
        time.strftime("%H:%M:%S", time.localtime(rule["LastModifiedTime"])),
        printable(" ".join(str(details).split())),
    )

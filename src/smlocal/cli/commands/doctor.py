"""`smlocal doctor`: what this machine has and lacks for running jobs."""

import json
import sys
from dataclasses import replace

import click

from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import GREEN, RED, YELLOW, has_colours, paint, width_of, wrapped
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.doctor.judgement import Judgement
from smlocal.doctor.machine import Machine
from smlocal.doctor.run_checks import CHECKS, ready, run_checks
from smlocal.terms.masking import without_passwords

_MARKS = {"ok": ("✔", GREEN), "warning": ("!", YELLOW), "problem": ("✗", RED), "unknown": ("?", YELLOW)}
_NAME = 15
_INDENT = _NAME + 2
_NOT_READY = 3


def _checks(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse names that no check has; the list of them is not worth importing for `--help`."""
    for name in value:
        if name.replace("-", "_") not in CHECKS:
            known = ", ".join(each.replace("_", "-") for each in CHECKS)
            raise click.BadParameter(f"unknown check {name}; choose from {known}.", context, parameter)
    return tuple(name.replace("-", "_") for name in value)


@shown_command(
    "doctor",
    examples=(
        ("smlocal doctor", "Check everything."),
        ("smlocal doctor --need gpu --json", "Require a GPU; print JSON."),
    ),
)
@click.option(
    "--need",
    "needed",
    metavar="CHECK",
    multiple=True,
    callback=_checks,
    help="Treat warnings of this check as problems; repeatable.",
)
@click.option(
    "--online", is_flag=True, help="Ask AWS about the credentials, and the package index for a newer smlocal."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--report", "for_issue", is_flag=True, help="Print a block to paste into an issue; it names no user.")
def command(*, needed: tuple[str, ...], online: bool, as_json: bool, for_issue: bool) -> int:
    """Check whether this machine is ready to run jobs.

    Creates and removes a tiny container, which needs no image. Uses the network only with --online.

    Exits with 3 if a check finds a problem, or if a check named by --need has a warning. Other warnings do not count.
    """
    if as_json and for_issue:
        raise click.UsageError("--report and --json cannot be used together.")
    machine = Machine(online=online)
    findings = {}
    for name, found in run_checks(machine, needed):
        # An address of an engine or of S3 may have a password in it.
        finding = replace(
            found, sentence=without_passwords(found.sentence), remedy=tuple(map(without_passwords, found.remedy))
        )
        findings[name.replace("_", "-")] = finding
        if not as_json and not for_issue:
            _show(name.replace("_", "-"), finding)
    is_ready = ready(findings.values())
    if as_json:
        _print_document(findings, is_ready=is_ready)
    elif for_issue:
        from smlocal.doctor.summary import summary

        click.echo(printable(summary(machine, findings)))
    else:
        _conclude(findings)
    return 0 if is_ready else _NOT_READY


def _show(name: str, finding: "Judgement") -> None:
    width = width_of(sys.stdout)
    for number, text in enumerate((finding.sentence, *finding.remedy)):
        mark = paint(*_MARKS[finding.severity], sys.stdout)
        head = f"{mark} {name:<{_NAME}}" if number == 0 else " " * _INDENT
        lines = wrapped(printable(" ".join(text.split("\n"))), indent=_INDENT, width=width)
        click.echo(head + "\n".join(lines), color=has_colours(sys.stdout))


def _conclude(findings: "dict[str, Judgement]") -> None:
    problems = [name for name, finding in findings.items() if finding.severity == "problem"]
    warnings = sum(finding.severity == "warning" for finding in findings.values())
    said = f"{warnings} warning{'s' * (warnings != 1)}" if warnings else "no warnings"
    click.echo(f"Not ready: {', '.join(problems)} ({said})" if problems else f"Ready ({said})", err=True)


def _print_document(findings: "dict[str, Judgement]", *, is_ready: bool) -> None:
    checks = [
        {"Check": name, "Severity": finding.severity, "Sentence": finding.sentence, "Remedy": finding.remedy}
        for name, finding in findings.items()
    ]
    click.echo(json_without_commands(json.dumps({"Doctor": {"Ready": is_ready, "Checks": checks}}, indent=2)))

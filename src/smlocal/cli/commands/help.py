"""`smlocal help`: help about a command, a topic, an error or a rule."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

import click

from smlocal.base.quick_dataclass import dataclass
from smlocal.cli.command_table import COMMANDS, command_named, load_command
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import row, width_of
from smlocal.cli.terminal.links import section, with_page_links
from smlocal.cli.terminal.pager import pages
from smlocal.debugger.rule_texts import rule_modules, rule_text
from smlocal.terms.validation.suggestions import closest

if TYPE_CHECKING:
    from smlocal.check.interface import Rule

_LIKENESS = 0.7
"""Of a topic and a name that may be meant. There are more than a hundred names, so two words are easily alike."""
_PAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "errors.md")
"""Its rows are what is said about an error, as Markdown with the links of a page in docs."""
_ROW = re.compile(r"\| `([a-z0-9-]+)` \| (\d+) \| (.+) \| (.+) \| (.+) \|")
_LINK = re.compile(r"\[([^]]+)\]\(([^)]+)\)")
_COLUMN = 12
TOPICS = {
    "exit-codes": """\
Exit codes

  0    the job is Completed; the command succeeded
  1    the job Failed; a check found something; two jobs differ; a job is not
       reproduced; an unexpected error
  2    the request, the configuration file or the command line is refused:
       no job was made
  3    this machine is not ready, or its engine stopped answering:
       smlocal doctor
  4    the job was Stopped, by smlocal stop or because it reached its time limit
  124  smlocal wait --timeout: the jobs have not ended yet
  130  stopped by Ctrl-C (SIGINT)
  143  stopped by SIGTERM or SIGHUP

The exit code of the container is in smlocal describe NAME --json (Local.Hosts),
not in these.
""",
    "job-names": """\
Names of jobs

Wherever a command takes NAME, write
  the name of a job,
  its beginning, if no other job's name begins with it, or
  @last for the newest job.

smlocal rm also takes shell patterns in quotes, such as 'test-*'. A new job gets
its name from --name, from TrainingJobName, or from the job file and the time.
smlocal jobs lists all names.
""",
    "configuration": """\
Configuration file

smlocal.toml, or [tool.smlocal] in pyproject.toml, in the current folder or the
nearest folder above it. Keys are the long names of flags, at the top for all
commands or in a table for one:

  output = "./artifacts"
  [run]
  pull = "never"

Relative paths are relative to the file. A flag on the command line counts
first, then the job file, then this file. smlocal config show prints the values.
SMLOCAL_CONFIG names another file; if it is empty, none is read.
""",
    "environment": """\
Environment variables

  SMLOCAL_HOME            folder where jobs are stored
  SMLOCAL_CONFIG          the configuration file; if empty, none is read
  SMLOCAL_ENGINE_TIMEOUT  seconds until a lost engine ends a job, about (60)
  DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, DOCKER_TLS_VERIFY,
  DOCKER_CERT_PATH        the engine
  AWS_REGION, AWS_DEFAULT_REGION, AWS_PROFILE,
  AWS_CONFIG_FILE         the region of the job
  SMLOCAL_PROGRESS        --progress of run and rerun
  SMLOCAL_PAGER, PAGER    what shows long output on a terminal (less); if
                          empty, nothing does
  NO_COLOR, TERM=dumb     no colour
  FORCE_COLOR             colour elsewhere than on a terminal too
  SMLOCAL_HYPERLINKS      links in terminals: auto, always or never; none with
                          NO_COLOR, TERM=dumb or CI
""",
}
"""The texts of `smlocal help TOPIC`."""


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    del context, parameter

    return [
        each for each in (*TOPICS, *COMMANDS, *error_pages(), *_rules(), *rule_modules()) if each.startswith(incomplete)
    ]


@shown_command(
    "help",
    examples=(
        ("smlocal help exit-codes", "Show a topic."),
        ("smlocal help source-missing", "Show an error."),
        ("smlocal help train-missing", "Show a rule of check."),
    ),
)
@click.argument("topic", required=False, shell_complete=_completed)
@pages
@click.pass_context
def command(ctx: click.Context, *, topic: str | None) -> None:
    """Show help about a command, a topic, an error or a rule.

    TOPIC is a command, exit-codes, job-names, configuration, environment, the id of an error, such as source-missing,
    a rule of smlocal check, such as train-missing, or a debugger rule, such as LossNotDecreasing.
    """
    above = ctx.parent or ctx
    topic = topic if topic is None else command_named(topic)
    if topic is None:
        click.echo(above.get_help())
        click.echo(
            f"\nTopics: {', '.join(TOPICS)},\nthe ids of errors, the rules of smlocal check and debugger rules. "
            "Show one with: smlocal help TOPIC"
        )
    elif topic in TOPICS:
        _show(TOPICS[topic].rstrip("\n"))
    elif topic in COMMANDS:
        about = load_command(topic)
        click.echo(about.get_help(click.Context(about, info_name=topic, parent=above)))
    else:
        _show_page(ctx, topic)


def _show(text: str) -> None:
    click.echo(with_page_links(text, sys.stdout))


def _show_page(ctx: click.Context, topic: str) -> None:
    pages, rules, debugger_rules = error_pages(), _rules(), rule_modules()
    found = [
        *([pages[topic].lines(sys.stdout)] if topic in pages else ()),
        *([_rule_lines(rules[topic], sys.stdout)] if topic in rules else ()),
        *([_debugger_rule_lines(topic, sys.stdout)] if topic in debugger_rules else ()),
    ]
    if found:
        _show("\n\n".join("\n".join(lines) for lines in found))
    else:
        near = closest(topic, [*TOPICS, *COMMANDS, *pages, *rules, *debugger_rules], likeness=_LIKENESS)
        meant = f" Did you mean '{near}'?" if near else ""
        known = f"The topics are {', '.join(TOPICS)}."
        raise click.UsageError(f"No topic, command, error or rule '{topic}'.{meant} {known}", ctx)


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorPage:
    """What is known of one kind of error."""

    id: str
    exit_code: str
    says: str
    cause: str
    remedy: str

    def lines(self, stream: TextIO) -> Iterator[str]:
        """The page, at the width of the terminal that the stream writes to."""
        yield f"{self.id}   exit code {self.exit_code}"
        yield ""
        yield from _page_rows((("It says", self.says), ("Cause", self.cause), ("What to do", self.remedy)), stream)
        yield _more("errors", self.id)


def _page_rows(rows: Iterable[tuple[str, str]], stream: TextIO) -> Iterator[str]:
    for head, text in rows:
        yield from row(f"{head:<{_COLUMN}}", text, width=width_of(stream))


def _rules() -> dict[str, "Rule"]:
    """The rules of check, by their ids."""
    from smlocal.check.registry import all_rules

    return {rule.id: rule for rule in all_rules()}


def _rule_lines(rule: "Rule", stream: TextIO) -> Iterator[str]:
    """What docs/checks.md says about a rule, without its example."""
    profiles = " or ".join(each.option for each in sorted(rule.profiles))
    yield f"{rule.id}   {rule.severity} of smlocal check{f', with {profiles}' if profiles else ''}"
    yield ""
    texts = (("It finds", rule.title), ("Why", rule.why), ("What to do", rule.remedy))
    yield from _page_rows(((head, _plain(text)) for head, text in texts), stream)
    yield _more("checks", rule.id)


def _debugger_rule_lines(name: str, stream: TextIO) -> Iterator[str]:
    """What docs/debugger-rules.md says about a rule, without its parameters."""
    yield f"{name}   debugger rule"
    yield ""
    for paragraph in rule_text(name).split("\n\n"):
        items = re.sub(r"\n(?!- )\s*", " ", paragraph)
        yield from (each for line in items.split("\n") for each in row("", _plain(line), width=width_of(stream)))
        yield ""
    yield "Parameters: docs/debugger-rules.md"


def _more(page: str, anchor: str) -> str:
    """In one piece, so that a terminal opens it."""
    return f"{'More':<{_COLUMN}}{section(page, anchor)}"


def error_rows() -> list[ErrorPage]:
    """All of them, as Markdown."""
    with open(_PAGE, encoding="utf-8") as file:
        found = [_ROW.fullmatch(line.rstrip("\n")) for line in file]
    rows = [each.groups() for each in found if each is not None]
    return [
        ErrorPage(id=name, exit_code=code, says=says, cause=cause, remedy=remedy)
        for name, code, says, cause, remedy in rows
    ]


def error_pages() -> dict[str, ErrorPage]:
    """All of them, by id, without Markdown."""
    return {
        row.id: ErrorPage(
            id=row.id,
            exit_code=row.exit_code,
            says=_plain(row.says),
            cause=_plain(row.cause),
            remedy=_plain(row.remedy),
        )
        for row in error_rows()
    }


def _plain(text: str) -> str:
    """Without Markdown. A page that is linked to is named."""
    text = _LINK.sub(lambda found: _linked(found[1], found[2]), text)
    return re.sub(r"(?<![\w`*])\*([^*`]+)\*(?!\w)", r"<\1>", text).replace("`", "")


def _linked(text: str, target: str) -> str:
    page = f"docs/{target.partition('#')[0]}"
    return page if f"docs/{text}" == page else f"{text} ({page})"

"""`smlocal help`: help about a command, or about what concerns all of them."""

import os
import re
import sys
from collections.abc import Iterator
from typing import TextIO

import click

from smlocal.base.quick_dataclass import dataclass
from smlocal.cli.command_table import COMMANDS, load_command
from smlocal.cli.terminal.layout import row, width_of
from smlocal.cli.terminal.pager import pages

_LIKENESS = 0.7
"""Of a topic and a name that may be meant. There are more than a hundred names, so two words are easily alike."""
_PAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "errors.md")
"""A link to docs/errors.md: its rows are what is said about an error."""
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
""",
}
"""The texts of `smlocal help TOPIC`."""


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    del context, parameter
    return [each for each in (*TOPICS, *COMMANDS, *error_pages()) if each.startswith(incomplete)]


@click.command("help")
@click.argument("topic", required=False, shell_complete=_completed)
@pages
@click.pass_context
def command(ctx: click.Context, *, topic: str | None) -> None:
    """Show help about a command, a topic or an error.

    Topics: exit-codes, job-names, configuration, environment, and the id of an error, such as source-missing.
    """
    above = ctx.parent or ctx
    if topic is None:
        click.echo(above.get_help())
        click.echo(f"\nTopics: {', '.join(TOPICS)}. Show one with: smlocal help TOPIC")
    elif topic in TOPICS:
        click.echo(TOPICS[topic], nl=False)
    elif topic in COMMANDS:
        about = load_command(topic)
        click.echo(about.get_help(click.Context(about, info_name=topic, parent=above)))
    else:
        _show_error_page(ctx, topic)


def _show_error_page(ctx: click.Context, topic: str) -> None:
    pages = error_pages()
    if topic in pages:
        click.echo("\n".join(pages[topic].lines(sys.stdout)))
    else:
        from smlocal.jobs.contract.validation.suggestions import closest

        near = closest(topic, [*TOPICS, *COMMANDS, *pages], likeness=_LIKENESS)
        meant = f" Did you mean '{near}'?" if near else ""
        raise click.UsageError(f"No topic or command '{topic}'.{meant} The topics are {', '.join(TOPICS)}.", ctx)


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
        for head, text in (("It says", self.says), ("Cause", self.cause), ("What to do", self.remedy)):
            yield from row(f"{head:<{_COLUMN}}", text, width=width_of(stream))


def error_pages() -> dict[str, ErrorPage]:
    """All of them, by id."""
    with open(_PAGE, encoding="utf-8") as file:
        found = [_ROW.fullmatch(line.rstrip("\n")) for line in file]
    pages = [each.groups() for each in found if each is not None]
    return {
        name: ErrorPage(id=name, exit_code=code, says=_plain(says), cause=_plain(cause), remedy=_plain(remedy))
        for name, code, says, cause, remedy in pages
    }


def _plain(text: str) -> str:
    """Without Markdown. A page that is linked to is named."""
    text = _LINK.sub(lambda found: _linked(found[1], found[2]), text)
    return re.sub(r"(?<![\w`*])\*([^*`]+)\*(?!\w)", r"<\1>", text).replace("`", "")


def _linked(text: str, target: str) -> str:
    page = f"docs/{target.partition('#')[0]}"
    return page if f"docs/{text}" == page else f"{text} ({page})"

"""`smlocal help`: help about a command, a topic, an error, a note or a rule."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

import click

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.cli.command_table import COMMANDS, command_named, load_command
from smlocal.cli.help_topics import TOPICS
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import row, width_of
from smlocal.cli.terminal.links import page_address, section, with_page_links
from smlocal.cli.terminal.pager import pages
from smlocal.debugger.rule_texts import rule_modules, rule_text
from smlocal.jobfile.option import LocalMember
from smlocal.terms.model.structure import members
from smlocal.terms.validation.violation import closest

if TYPE_CHECKING:
    from smlocal.check.interface import Rule
    from smlocal.check.registry import all_rules
else:
    all_rules = at_use("smlocal.check.registry", "all_rules")

_LIKENESS = 0.7
"""Of a topic and a name that may be meant. There are more than a hundred names, so two words are easily alike."""
_FOLDER = os.path.dirname(os.path.dirname(__file__))
_ERRORS = os.path.join(_FOLDER, "errors.md")
"""Its rows are what is said about an error, as Markdown with the links of a page in docs."""
_NOTES = os.path.join(_FOLDER, "notes.md")
"""The same for the notes of jobs."""
_ROW = re.compile(r"\| `([a-z0-9-]+)` \| (\d+) \| (.+) \| (.+) \| (.+) \|")
_NOTE_ROW = re.compile(r"\| `([a-z0-9-]+)` \| (.+) \| (.+) \|")
_LINK = re.compile(r"\[([^]]+)\]\(([^)]+)\)")
_COLUMN = 12
_LOCAL = "local"
"""The topic about the block `Local` of a job file."""


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    del context, parameter

    return [
        each
        for each in (*TOPICS, _LOCAL, *COMMANDS, *error_pages(), *note_pages(), *_rules(), *rule_modules())
        if each.startswith(incomplete)
    ]


@shown_command(
    "help",
    examples=(
        ("smlocal help exit-codes", "Show a topic."),
        ("smlocal help source-missing", "Show an error."),
        ("smlocal help instance-size", "Show a note of a job."),
    ),
)
@click.argument("topic", required=False, shell_complete=_completed)
@pages
@click.pass_context
def command(ctx: click.Context, *, topic: str | None) -> None:
    """Show help about a command, a topic, an error, a note or a rule.

    TOPIC is a command, a topic that `smlocal help` lists, the id of an error, such as source-missing, or of a note,
    such as instance-size, a rule of smlocal check, such as train-missing, or a debugger rule, such as
    LossNotDecreasing.
    """
    above = ctx.parent or ctx
    topic = topic if topic is None else command_named(topic)
    if topic is None:
        click.echo(above.get_help())
        topics = ", ".join((*TOPICS, _LOCAL))
        listed = f"Topics: {topics}; the ids of errors and notes, the rules of smlocal check, debugger rules."
        click.echo("\n" + "\n".join(row("", f"{listed} Show one with: smlocal help TOPIC", width=width_of(sys.stdout))))
    elif topic in TOPICS:
        _show(TOPICS[topic].rstrip("\n"))
    elif topic == _LOCAL:
        _show("\n".join(_local_lines(sys.stdout)))
    elif topic in COMMANDS:
        about = load_command(topic)
        click.echo(about.get_help(click.Context(about, info_name=topic, parent=above)))
        if topic in (notes := note_pages()):
            _show("\n" + "\n".join(notes[topic].lines(sys.stdout)))
    else:
        _show_page(ctx, topic)


def _show(text: str) -> None:
    click.echo(with_page_links(text, sys.stdout))


def _show_page(ctx: click.Context, topic: str) -> None:
    pages, notes, rules, debugger_rules = error_pages(), note_pages(), _rules(), rule_modules()
    found = [
        *([pages[topic].lines(sys.stdout)] if topic in pages else ()),
        *([notes[topic].lines(sys.stdout)] if topic in notes else ()),
        *([_rule_lines(rules[topic], sys.stdout)] if topic in rules else ()),
        *([_debugger_rule_lines(topic, sys.stdout)] if topic in debugger_rules else ()),
    ]
    if found:
        _show("\n\n".join("\n".join(lines) for lines in found))
    else:
        near = closest(topic, [*TOPICS, _LOCAL, *COMMANDS, *pages, *notes, *rules, *debugger_rules], likeness=_LIKENESS)
        meant = f" Did you mean '{near}'?" if near else ""
        known = f"The topics are {', '.join((*TOPICS, _LOCAL))}."
        raise click.UsageError(f"No topic, command, error, note or rule '{topic}'.{meant} {known}", ctx)


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


@dataclass(frozen=True, kw_only=True, slots=True)
class NotePage:
    """One note: a difference from the service, or a warning."""

    id: str
    when: str
    meaning: str

    def lines(self, stream: TextIO) -> Iterator[str]:
        """The page, at the width of the terminal that the stream writes to."""
        warning = self.meaning.startswith(_WARNING)
        yield f"{self.id}   {'warning' if warning else 'note'} of a job"
        yield ""
        yield from _page_rows((("When", self.when), ("It means", self.meaning.removeprefix(_WARNING))), stream)
        yield _more("fidelity", "notes-that-a-job-gets")


_WARNING = "Warning. "
"""The meaning of a warning begins with this."""


def _page_rows(rows: Iterable[tuple[str, str]], stream: TextIO) -> Iterator[str]:
    for head, text in rows:
        yield from row(f"{head:<{_COLUMN}}", text, width=width_of(stream))


def _rules() -> dict[str, "Rule"]:
    """The rules of check, by their ids."""
    return {rule.id: rule for rule in all_rules()}


def _rule_lines(rule: "Rule", stream: TextIO) -> Iterator[str]:
    """A rule as on its page of the site, without the example."""
    profiles = " or ".join(each.option for each in sorted(rule.profiles))
    yield f"{rule.id}   {rule.severity} of smlocal check{f', with {profiles}' if profiles else ''}"
    yield ""
    texts = (("It finds", rule.title), ("Why", rule.why), ("What to do", rule.remedy))
    yield from _page_rows(((head, _plain(text)) for head, text in texts), stream)
    yield _more("checks", rule.id)


def _local_lines(stream: TextIO) -> Iterator[str]:
    """All settings of `Local`, with their flags."""
    from smlocal.jobfile.settings import LocalSettings

    yield "Local: settings of this machine, a block of every job file"
    yield ""
    found = {name: each for name, each in members(LocalSettings).items() if isinstance(each, LocalMember)}
    column = max(map(len, found)) + 2
    for name, each in found.items():
        default = getattr(LocalSettings(), name)
        usual = f" Default: {default}." if isinstance(default, str | int) and default else ""
        flag = f" Flag: {each.option.flag}" if each.option is not None else ""
        yield from row(f"{name:<{column}}", f"{each.description}{usual}{flag}", width=width_of(stream))
    yield ""
    yield _more("job-file", "local-settings-of-this-machine")


def _debugger_rule_lines(name: str, stream: TextIO) -> Iterator[str]:
    """A debugger rule as on the site, without its parameters."""
    yield f"{name}   debugger rule"
    yield ""
    for paragraph in rule_text(name).split("\n\n"):
        items = re.sub(r"\n(?!- )\s*", " ", paragraph)
        yield from (each for line in items.split("\n") for each in row("", _plain(line), width=width_of(stream)))
        yield ""
    yield f"Parameters: {section('debugger-rules', name.lower())}"


def _more(page: str, anchor: str) -> str:
    """In one piece, so that a terminal opens it."""
    return f"{'More':<{_COLUMN}}{section(page, anchor)}"


def error_rows() -> list[ErrorPage]:
    """All of them, as Markdown."""
    rows = _rows_of(_ERRORS, _ROW)
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


def note_rows() -> list[NotePage]:
    """All of them, as Markdown."""
    return [NotePage(id=name, when=when, meaning=meaning) for name, when, meaning in _rows_of(_NOTES, _NOTE_ROW)]


def note_pages() -> dict[str, NotePage]:
    """All of them, by id, without Markdown."""
    return {row.id: NotePage(id=row.id, when=_plain(row.when), meaning=_plain(row.meaning)) for row in note_rows()}


def _rows_of(path: str, pattern: re.Pattern[str]) -> list[tuple[str, ...]]:
    with open(path, encoding="utf-8") as file:
        found = [pattern.fullmatch(line.rstrip("\n")) for line in file]
    return [each.groups() for each in found if each is not None]


def _plain(text: str) -> str:
    """The text without Markdown. Links show their address."""
    text = _LINK.sub(lambda found: _linked(found[1], found[2]), text)
    return re.sub(r"(?<![\w`*])\*([^*`]+)\*(?!\w)", r"<\1>", text).replace("`", "")


def _linked(text: str, target: str) -> str:
    page, _, anchor = target.partition("#")
    name = page.removesuffix(".md")
    address = section(name, anchor) if anchor else page_address(name)
    return address if text == page else f"{text} ({address})"

"""One page for each command, from the commands themselves and commands.yaml."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import yaml

from smlocal.cli.main import cli

_MORE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("commands.yaml").read_text(encoding="utf-8"))
SHARED: dict[str, str] = _MORE["shared"]
"""Options of several commands, in place of their help."""
SEE: dict[str, str] = _MORE["see"]
"""Where more is said about an option."""
OF_COMMAND: dict[str, dict[str, Any]] = _MORE["commands"]
"""The text about one command."""
_CONTEXT = click.Context(cli, info_name="smlocal", **cli.context_settings)
_PAGE = re.compile(r"`docs/([a-z-]+\.md)`")
_CODE = re.compile(r"(?<![\w`-])(--[a-z][a-z-]*|s3://\S*\w|[\w./-]*/[\w./<>-]+|Local\.\w+|[A-Z][a-z]\w+\.[A-Z]\w+)")
_LINK = re.compile(r"\]\((?!https?:|#)([^)]+)\)")


def command_names() -> list[str]:
    """All of them, in the order of the list of commands."""
    return cli.list_commands(_CONTEXT)


def command_of(name: str) -> click.Command:
    """The command of that name."""
    command = cli.get_command(_CONTEXT, name)
    assert command is not None
    return command


def commands_table() -> str:
    """The end of docs/cli.md: the options of smlocal itself, and the list of commands."""
    lines = [
        "## Options of `smlocal`",
        "",
        *_table(_options(cli, _CONTEXT, {})),
        "## Commands",
        "",
        "| | |",
        "|---|---|",
    ]
    lines += [
        f"| [`{name}`](cli/{name}.md) | {_escaped(command_of(name).get_short_help_str(120))} |"
        for name in command_names()
    ]
    return "\n".join(lines) + "\n"


def command_page(name: str) -> str:
    """The page of one command, in a folder beside the other pages."""
    command = command_of(name)
    more = OF_COMMAND.get(name, {})
    context = click.Context(command, info_name=name, parent=_CONTEXT)
    lines = [f"# smlocal {name}", "", *_command(command, context, more)]
    if isinstance(command, click.Group):
        for below, each in command.commands.items():
            if not each.hidden:
                inner = click.Context(each, info_name=below, parent=context)
                lines += [f"## {name} {below}", "", *_command(each, inner, more.get("commands", {}).get(below, {}))]
    return _LINK.sub(r"](../\1)", "\n".join(lines) + "\n")


def signature(parameter: click.Parameter) -> str:
    """How a page writes an option: `-n, --limit N`, `--pull missing/always/never`, `--json`, `NAME...`."""
    context = click.Context(click.Command("any"))
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(context).strip("[]")
    assert isinstance(parameter, click.Option)
    # Short names first, as --help shows them.
    names = ", ".join([*sorted(parameter.opts, key=len), *parameter.secondary_opts])
    if parameter.is_flag or parameter.is_eager:
        return names
    if isinstance(parameter.type, click.Choice):
        return f"{names} {'/'.join(parameter.type.choices)}"
    return f"{names} {parameter.metavar or 'N'}"


def _command(command: click.Command, context: click.Context, more: dict[str, Any]) -> Iterator[str]:
    yield from (f"    {' '.join(command.get_usage(context).split()).removeprefix('Usage: ')}", "")
    for text in (command.help, command.epilog):
        yield from _paragraphs(text or "")
    for line, does in getattr(command, "examples", ()):
        yield from (f"{_escaped(does)}\n", f"    {line}", "")
    for paragraph in more.get("about", ()):
        yield from (paragraph, "")
    arguments = {**more.get("arguments", {})}
    rows = [
        (signature(each), arguments.get(signature(each), ""))
        for each in command.params
        if isinstance(each, click.Argument)
    ]
    if len(rows) > 1 and not any(text for _, text in rows):
        rows = [*arguments.items()]
    yield from _table([*(row for row in rows if row[1]), *_options(command, context, more.get("options", {}))])


def _options(command: click.Command, context: click.Context, said: dict[str, str]) -> Iterator[tuple[str, str]]:
    for each in command.get_params(context):
        if isinstance(each, click.Option) and not each.hidden and not each.opts[-1].startswith("--help"):
            yield signature(each), _about(each, said)


def _about(option: click.Option, said: dict[str, str]) -> str:
    long = max(option.opts, key=len)
    if text := said.get(long):
        return text
    text = SHARED.get(long) or _escaped((option.help or "").rstrip("."))
    text += "; required" if option.required else ""
    return f"{text}. [More]({SEE[long]})" if long in SEE and long not in SHARED else text


def _table(rows: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> Iterator[str]:
    rows = [*rows]
    if rows:
        yield from ("| | |", "|---|---|")
        yield from (f"| `{name}` | {text} |".replace("\n", " ") for name, text in rows)
        yield ""


def _paragraphs(text: str) -> Iterator[str]:
    """A help text: `\\b` begins what is shown as it stands."""
    for paragraph in re.split(r"\n\s*\n", text.partition("\f")[0].strip("\n")):
        lines = [line.rstrip() for line in paragraph.splitlines()]
        if lines and lines[0].strip() == "\b":
            yield from (f"    {line.strip()}" for line in lines[1:])
        elif any(lines):
            yield _escaped(" ".join(line.strip() for line in lines))
        yield ""


def _escaped(text: str) -> str:
    """Plain text as Markdown, with what a user types as code."""
    parts = _CODE.split(text)
    plain = (re.sub(r"([*_<\[])", r"\\\1", part) for part in parts[::2])
    code = (f"`{part}`" for part in parts[1::2])
    whole = "".join(word for pair in zip(plain, [*code, ""], strict=True) for word in pair).replace("|", "\\|")
    return _PAGE.sub(r"[\1](\1)", whole)

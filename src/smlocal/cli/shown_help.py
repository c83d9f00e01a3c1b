"""How a command shows its help: common options under heads, all of them with --help-all, and examples at the end."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from smlocal.cli.command_table import command_named, similar_commands
from smlocal.cli.terminal.links import with_page_links
from smlocal.jobfile.option import Head

HELP_NAMES = ("-h", "--help", "--help-all")
_ALL = "smlocal.help-all"
_LONGEST_BESIDE = 44
"""Columns of an example beside which its explanation stands; that of a longer one is below it."""

Example = tuple[str, str]
"""A command line as one would type it, and what it does. A test runs or parses each."""


class ShownOption(click.Option):
    """An option with the head under which help shows it, and whether it does so without --help-all."""

    def __init__(self, *arguments: Any, head: Head = Head.OTHER, common: bool = False, **about: Any) -> None:
        super().__init__(*arguments, **about)
        self.head = head
        self.common = common


def shown_option(*names: str, head: Head = Head.OTHER, common: bool = False, **about: Any) -> Callable[..., Any]:
    """Add an option, as `click.option` does."""
    return click.option(*names, cls=ShownOption, head=head, common=common, **about)


class ShownCommand(click.Command):
    """A command that shows its help like this."""

    def __init__(self, *arguments: Any, examples: Sequence[Example] = (), **about: Any) -> None:
        super().__init__(*arguments, **about)
        self.examples = tuple(examples)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """With --help-all, if --help leaves some out."""
        found = super().get_params(ctx)
        return [*found, _help_all()] if _has_common(self) else found

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The usual option, with a pager for long help."""
        return _paged(super().get_help_option(ctx))

    def get_help(self, ctx: click.Context) -> str:
        """The text, with links to pages of the documentation."""
        return with_page_links(super().get_help(ctx), sys.stdout)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """All options in one list if they are few, and under heads otherwise."""
        if not _has_common(self):
            super().format_options(ctx, formatter)
            return
        every = bool(ctx.meta.get(_ALL))
        options = [each for each in self.params if isinstance(each, click.Option) and (every or _is_common(each))]
        for head in Head:
            records = [*_records(ctx, (each for each in options if _head(each) is head))]
            if records:
                with formatter.section(str(head)):
                    formatter.write_dl(records)
        with formatter.section("Help"):
            formatter.write_dl([*_records(ctx, self.get_params(ctx)[-2:])])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        super().format_epilog(ctx, formatter)
        write_examples(formatter, self.examples)


class ShownGroup(click.Group):
    """A group of such commands. A mistyped command suggests others, and a synonym runs."""

    command_class = ShownCommand

    def __init__(self, *arguments: Any, examples: Sequence[Example] = (), **about: Any) -> None:
        super().__init__(*arguments, **about)
        self.examples = tuple(examples)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """As for a command."""
        return _paged(super().get_help_option(ctx))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Run the command of a synonym, and suggest commands for a word that is neither."""
        names = self.list_commands(ctx)
        args = [command_named(args[0], names), *args[1:]]
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            meant = " or ".join(f"'{each}'" for each in similar_commands(args[0], names))
            if not meant or args[0].startswith("-"):
                raise
            raise click.UsageError(f"{error.message} Did you mean {meant}?", ctx) from error

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        super().format_epilog(ctx, formatter)
        write_examples(formatter, self.examples)


def _paged(option: click.Option | None) -> click.Option | None:
    if option is not None:
        option.callback = _show_help
    return option


def _show_help(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - as click calls it
    del parameter
    if not value or ctx.resilient_parsing:
        return
    if not sys.stdout.isatty():
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
    from smlocal.cli.terminal.pager import paged  # for a terminal

    with paged(wanted="--no-pager" not in sys.argv):  # which may not be parsed yet
        click.echo(ctx.get_help(), color=ctx.color)
    ctx.exit()


def shown_command(
    name: str, *, examples: Sequence[Example], cls: type[ShownCommand] = ShownCommand, **about: Any
) -> Callable[[Callable[..., Any]], ShownCommand]:
    """Make a command of a function, as `click.command` does."""
    return click.command(name, cls=cls, examples=examples, **about)


def shown_group(
    name: str, *, examples: Sequence[Example], cls: type[ShownGroup] = ShownGroup
) -> Callable[[Callable[..., Any]], ShownGroup]:
    """Make a group of a function, as `click.group` does."""
    return click.group(name, cls=cls, examples=examples)


def write_examples(formatter: click.HelpFormatter, examples: Sequence[Example]) -> None:
    """The last section. A command line is never broken, so that it can be copied."""
    if not examples:
        return
    with formatter.section("Examples"):
        column = max((len(line) for line, _ in examples if len(line) <= _LONGEST_BESIDE), default=0)
        beside = formatter.width - formatter.current_indent - column - 2 >= max(len(says) for _, says in examples)
        for line, says in examples:
            indent = " " * formatter.current_indent
            if beside and len(line) <= column:
                formatter.write(f"{indent}{line:<{column}}  {says}\n")
                continue
            formatter.write(f"{indent}{line}\n")
            with formatter.indentation(), formatter.indentation():
                formatter.write_text(says)


def _has_common(command: click.Command) -> bool:
    return any(map(_is_common, command.params))


def _is_common(parameter: click.Parameter) -> bool:
    return isinstance(parameter, ShownOption) and parameter.common


def _head(option: click.Option) -> Head:
    return option.head if isinstance(option, ShownOption) else Head.OTHER


def _records(ctx: click.Context, options: Any) -> Iterator[tuple[str, str]]:
    for option in options:
        record = option.get_help_record(ctx)
        if record is not None:
            yield record


def _help_all() -> click.Option:
    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_all,
        help="Show all options.",
    )


def _show_all(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - as click calls it
    if value and not context.resilient_parsing:
        context.meta[_ALL] = True
        _show_help(context, parameter, value)

"""`smlocal help`: help about a command, or about what concerns all of them."""

import sys

import click

_LIKENESS = 0.7
"""Of a topic and a name that may be meant. There are more than a hundred names, so two words are easily alike."""


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    del context, parameter
    from smlocal.cli.command_table import COMMANDS
    from smlocal.cli.error_pages import error_pages
    from smlocal.cli.help_topics import TOPICS

    return [each for each in (*TOPICS, *COMMANDS, *error_pages()) if each.startswith(incomplete)]


@click.command("help")
@click.argument("topic", required=False, shell_complete=_completed)
@click.pass_context
def command(ctx: click.Context, *, topic: str | None) -> None:
    """Show help about a command, a topic or an error.

    Topics: exit-codes, job-names, configuration, environment, and the id of an error, such as source-missing.
    """
    from smlocal.cli.command_table import COMMANDS, load_command
    from smlocal.cli.help_topics import TOPICS

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
    from smlocal.cli.command_table import COMMANDS
    from smlocal.cli.error_pages import error_pages
    from smlocal.cli.help_topics import TOPICS

    pages = error_pages()
    if topic in pages:
        click.echo("\n".join(pages[topic].lines(sys.stdout)))
    else:
        from smlocal.contract.validation.suggestions import closest

        near = closest(topic, [*TOPICS, *COMMANDS, *pages], likeness=_LIKENESS)
        meant = f" Did you mean '{near}'?" if near else ""
        raise click.UsageError(f"No topic or command '{topic}'.{meant} The topics are {', '.join(TOPICS)}.", ctx)

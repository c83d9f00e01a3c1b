"""`smlocal pipeline`: answers to steps of pipelines that wait."""

import click

from smlocal.cli.shown_help import shown_group

_LONGEST_REASON = 256


@shown_group(
    "pipeline",
    examples=(
        ("smlocal pipeline succeed TOKEN --output decision=yes", "Let a Callback step succeed."),
        ("smlocal pipeline fail TOKEN --reason 'not approved'", "Let it fail."),
    ),
)
def command() -> None:
    """Answer a step of a pipeline that waits.

    TOKEN is in the message of the step, on the screen of the run and in smlocal describe.
    """


@command.command(
    "succeed",
    examples=(
        ("smlocal pipeline succeed TOKEN", "A step without outputs."),
        ("smlocal pipeline succeed TOKEN --output decision=yes", "A step with an output."),
    ),
)
@click.argument("token", metavar="TOKEN")
@click.option("--output", "outputs", multiple=True, metavar="NAME=VALUE", help="Output of the step; repeatable.")
def succeed(*, token: str, outputs: tuple[str, ...]) -> None:
    """Let the step that waits with TOKEN succeed."""
    given = {}
    for text in outputs:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise click.UsageError(f"--output {text}: write NAME=VALUE.")
        given[name] = value

    from smlocal.api.pipelines import answer

    click.echo(f"answered: {answer(token, outputs=given)} goes on", err=True)


@command.command(
    "fail",
    examples=(
        ("smlocal pipeline fail TOKEN", "Without a reason."),
        ("smlocal pipeline fail TOKEN --reason 'not approved'", "With a reason."),
    ),
)
@click.argument("token", metavar="TOKEN")
@click.option("--reason", default="", metavar="TEXT", help="Why; at most 256 characters.")
def fail(*, token: str, reason: str) -> None:
    """Let the step that waits with TOKEN fail."""
    if len(reason) > _LONGEST_REASON:
        raise click.UsageError(f"--reason: at most {_LONGEST_REASON} characters, and this has {len(reason):,}.")

    from smlocal.api.pipelines import answer

    click.echo(f"answered: {answer(token, reason=reason)} goes on", err=True)

"""The command that was given, again: with more options, and without some."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

import click

from smlocal.cli.shown_help import ShownCommand
from smlocal.terms.masking import looks_secret, masked_text

_WORDS = "smlocal.words"
_ENVIRONMENT = ("-e", "--env")


class WithWords(ShownCommand):
    """A command that keeps the words that it was given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep them, then parse them."""
        ctx.meta[_WORDS] = tuple(args)
        return super().parse_args(ctx, args)


def same_command(words: Iterable[str] = (), *, without: Iterable[str] = ()) -> str:
    """This command again with more words, and without options that have a value.

    Values of secret variables are left out: `-e NAME` takes them from the environment.
    """
    context = click.get_current_context()
    given: Sequence[str] = context.meta.get(_WORDS, ())
    kept = [*_without(given, {"--name", *without})]  # there is a job of that name now
    return shlex.join([*context.command_path.split(), *_without_secrets([*kept, *words])])


def _without(given: Iterable[str], options: set[str]) -> Iterator[str]:
    skip = False
    for word in given:
        if skip or word.partition("=")[0] in options:
            skip = not skip and word in options
            continue
        yield word


def _without_secrets(words: Sequence[str]) -> Iterator[str]:
    before = ""
    for word in words:
        option, separator, value = word.partition("=") if word.startswith("--env=") else (before, "=", word)
        name, assigned, secret = value.partition("=")
        if option in _ENVIRONMENT and assigned and looks_secret(name, secret):
            yield name if option == before else f"{option}{separator}{name}"
        else:
            yield masked_text(word)
        before = word

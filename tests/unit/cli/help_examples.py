"""The examples at the end of the help of every command, and those that a test runs for real."""

from collections.abc import Iterator

from smlocal.cli.command_table import COMMANDS, load_command
from smlocal.cli.main import cli
from smlocal.cli.shown_help import ShownCommand, ShownGroup


def every_command() -> Iterator[tuple[tuple[str, ...], ShownCommand | ShownGroup]]:
    """All commands and those below them, by their words."""
    for name in COMMANDS:
        command = load_command(name)
        assert isinstance(command, ShownCommand | ShownGroup)
        yield (name,), command
        if isinstance(command, ShownGroup):
            for below, each in command.commands.items():
                assert isinstance(each, ShownCommand)
                yield (name, below), each


EVERY = dict(every_command())
EXAMPLES = sorted({line for _, command in EVERY.items() for line, _ in command.examples} | {e for e, _ in cli.examples})
WITHOUT_AN_ENGINE = {
    "smlocal jobs": 0,
    "smlocal jobs --status Failed --older-than 7d": 0,
    "smlocal logs @last": 0,
    "smlocal logs my-job --host algo-1 --timestamps": 0,
    "smlocal logs my-job --follow": 0,
    "smlocal describe @last": 0,
    "smlocal describe my-job --json": 0,
    "smlocal metrics @last": 0,
    "smlocal metrics my-job --csv": 0,
    "smlocal report": 0,
    "smlocal report my-job --html -": 0,
    "smlocal rules my-job": 0,
    "smlocal rules show my-job": 0,
    "smlocal rules show my-job --follow": 0,
    "smlocal tensors ./tensors --export values.npz": 0,
    "smlocal wait my-job": 0,
    "smlocal wait my-job other-job --timeout 600": 0,
    "smlocal validate job.yaml": 0,
    "smlocal validate *.yaml --junit jobs.xml": 0,
    "smlocal coverage": 0,
    "smlocal coverage --of tuning --json": 0,
    "smlocal schema": 0,
    "smlocal schema --of endpoint": 0,
    "smlocal schema --result": 0,
    "smlocal init . --file train.yaml": 0,
    "smlocal conformance build --output ./probe": 0,
    "smlocal fetch described.json --file -": 0,
    "smlocal cache ls": 0,
    "smlocal cache ls --json": 0,
    "smlocal cache rm s3://my-bucket/data": 2,  # the cache is empty
    "smlocal cache rm --all": 0,
    "smlocal recover": 0,
    "smlocal config show": 0,
    "smlocal config show --json": 0,
    "smlocal completion zsh": 0,
    "smlocal completion --install": 0,
    "smlocal help exit-codes": 0,
    "smlocal help source-missing": 0,
    "smlocal help instance-size": 0,
    "smlocal rm --status Failed --older-than 7d": 0,
    "smlocal rm --stop 'test-*'": 0,
    "smlocal rm my-job": 0,
}
"""In the order in which they are run, with their exit codes."""
ON_AN_ENGINE = {
    "smlocal run job.yaml": 0,
    "smlocal logs my-job --host algo-1 --timestamps": 0,
    "smlocal plan job.yaml": 0,
    "smlocal plan job.yaml --script": 0,
    "smlocal plan --recorded @last": 0,
    "smlocal shell my-job -- ls /opt/ml": 0,
    "smlocal check my-image --static --fail-on warning": 0,
    "smlocal rerun @last": 0,
    "smlocal compare my-job @last": 0,
    "smlocal run --image my-image --channel train=./data --output ./out": 0,
    "smlocal rm my-job": 0,
}
"""The others of what is cheap, in three jobs."""

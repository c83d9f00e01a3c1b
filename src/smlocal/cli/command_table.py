"""Which commands there are, under which heads help shows them, and which other words are understood."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Final

import click

from smlocal.terms.validation.violation import close_matches

HEADS: Final[Mapping[str, Mapping[str, str]]] = {
    "Most used": {
        "run": "Run a job and wait until it ends.",
        "check": "Check an image and report every problem.",
        "plan": "Show what a run would do and how it differs from the service.",
        "jobs": "List the jobs of this machine, newest first.",
        "logs": "Print the logs of a job's containers.",
    },
    "Run": {
        "demo": "Build a tiny training image, and run a job in it.",
        "init": "Write a commented job file that smlocal run can run.",
        "rerun": "Run the request of an earlier job again, under a new name.",
        "wait": "Wait until jobs have ended.",
        "stop": "Stop a running job, with time to save its work.",
        "interrupt": "Simulate a spot interruption of a running job.",
        "pipeline": "Answer a step of a pipeline that waits.",
        "publish": "Upload the artifacts of a finished job to its S3OutputPath.",
        "pack": "Pack the artifacts that a finished job could not pack.",
    },
    "Look": {
        "describe": "Show a job: status, reason, times and artifacts.",
        "shell": "Open a shell in the container of a job.",
        "metrics": "Show the metrics of a job, finished or running.",
        "report": "Write an HTML report about a job, finished or running.",
        "compare": "Show what differs between two jobs.",
        "rules": "Show the debugger rules of a job, or build their image.",
        "tensors": "Show the tensors that the debugger's hook has saved in a job.",
    },
    "Deploy": {
        "deploy": "Serve a model from its image, as SageMaker hosting does.",
        "invoke": "Invoke an endpoint and print its answer.",
        "endpoints": "List the endpoints of this machine, newest first.",
        "models": "List models and the model registry, or describe one of them.",
    },
    "Check": {
        "validate": "Check job files and report every problem.",
        "doctor": "Check whether this machine is ready to run jobs.",
        "coverage": "Show how each field of a request is handled.",
        "schema": "Print the JSON Schema of a job file.",
    },
    "Serve": {
        "serve": "Run a local endpoint for boto3, the AWS CLI and the SDKs.",
        "exec": "Run a program and answer its AWS calls on this machine.",
    },
    "SageMaker service": {
        "fetch": "Write the job file of a job of the service.",
        "reproduce": "Run a job of the service here, and compare how both ended.",
        "submit": "Run a job file on SageMaker.",
        "conformance": "Record what a container sees, and compare records.",
    },
    "Keep house": {
        "rm": "Remove finished jobs and their logs.",
        "cache": "Show or clear the cache of S3 downloads.",
        "recover": "Finish jobs whose supervisor was killed.",
        "config": "Show the configuration file, which gives defaults to flags.",
        "completion": "Print or install shell completion for bash, zsh or fish.",
        "help": "Show help about a command, a topic, an error, a note or a rule.",
    },
}
"""The first line of each command's own help is here too, so that the list needs no command: a test compares them."""
COMMANDS: Final = {name: line for commands in HEADS.values() for name, line in commands.items()}
"""Each with the first line of its help, in the order of the list."""
SYNONYMS: Final[Mapping[str, str]] = {"ls": "jobs", "ps": "jobs", "list": "jobs", "delete": "rm", "remove": "rm"}
"""Words of other tools that run the command with the same meaning."""
_MEANT: Final[Mapping[str, tuple[str, ...]]] = {
    "run": ("start", "train", "launch", "execute", "create"),
    "rerun": ("retry", "restart", "repeat"),
    "plan": ("explain", "dry-run", "preview"),
    "check": ("lint", "test", "scan"),
    "describe": ("show", "inspect", "status", "info"),
    "logs": ("tail", "output"),
    "shell": ("ssh", "attach", "enter", "debug", "bash"),
    "stop": ("kill", "cancel", "abort", "terminate"),
    "serve": ("server", "up", "endpoint"),
    "init": ("new", "generate", "example"),
    "fetch": ("download", "get", "import"),
    "publish": ("upload", "push"),
    "compare": ("diff",),
    "config": ("configure", "settings"),
    "rm": ("clean", "clear", "prune", "purge"),
    "--version": ("version",),
}
"""Words that are only suggested for: the command does not do quite the same, or other tools mean several things."""
OPTION_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "--data": ("--channel",),
    "--input": ("--channel",),
    "--hp": ("--hyperparameter",),
    "--background": ("--detach",),
    "--follow": ("smlocal logs --follow",),
    "--dry-run": ("smlocal plan",),
    "--command": ("--entrypoint",),
    "--cpu": ("--allow-cpu",),
    "--tag": ("--image",),
    "--limit": ("--sample",),
    "--log-level": ("--debug",),
}
"""Options of other tools, and what may be meant: options, of which a command has one, or a command."""
_MEANT_BY_WORD: Final = {word: command for command, words in _MEANT.items() for word in words}


def load_command(name: str) -> click.Command:
    """Import the module of a command; it has the command's name."""
    command: click.Command = import_module(f"smlocal.cli.commands.{name}").command
    _accept_everywhere(command)
    return command


def command_named(word: str, commands: Iterable[str] = COMMANDS) -> str:
    """The name of the command that a word runs: the word itself, unless it is a synonym of one of `commands`."""
    commands = (*commands,)
    others = {**SYNONYMS, "list": "ls", "clear": "rm", "clean": "rm"} if "ls" in commands else SYNONYMS
    meant = others.get(word, word)
    return meant if word not in commands and meant in commands else word


def similar_commands(word: str, commands: Iterable[str] = COMMANDS) -> tuple[str, ...]:
    """The commands that may be meant by a word that is not one."""
    commands = (*commands,)
    meant = _MEANT_BY_WORD.get(word)
    if meant is not None and (meant in commands or meant.startswith("-")):
        return (meant,)
    # Two, if two are similar: `run` and `rm` do opposite things.
    return (*close_matches(word, commands, most=2),)


def _accept_everywhere(command: click.Command) -> None:
    """Let the options of smlocal itself stand after the name of the command too. Only its own help shows them."""
    given = {name for each in command.params for name in each.opts}
    for name in {"--debug", "--no-pager"} - given:
        # Eager, as --help is: no option of the configuration file.
        option = click.Option(
            [name], is_flag=True, is_eager=True, hidden=True, expose_value=False, callback=_remember_option
        )
        command.params.append(option)
    if isinstance(command, click.Group):
        for below in command.commands.values():
            _accept_everywhere(below)


def _remember_option(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - as click calls it
    if value:
        context.ensure_object(dict)[str(parameter.name)] = True

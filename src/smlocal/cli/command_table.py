"""Which commands there are, and what each does in one line."""

from importlib import import_module

import click

COMMANDS = {
    "init": "Write a commented job file that smlocal run can run.",
    "run": "Run a training job and wait until it ends.",
    "rerun": "Run the request of an earlier job again, under a new name.",
    "plan": "Show what a run would do and how it differs from the service.",
    "validate": "Say what is wrong with job files.",
    "check": "Say what is wrong with a training image.",
    "jobs": "List the jobs that were run here, newest first.",
    "describe": "Show a job: status, reason, times and artifacts.",
    "logs": "Print the logs of a job's containers.",
    "shell": "Open a shell in the container of a job.",
    "metrics": "Show the metrics of a job, finished or running.",
    "rules": "Show the debugger rules of a job, or build their image.",
    "tensors": "Show the tensors that the debugger's hook has saved in a job.",
    "report": "Write an HTML report about a job, finished or running.",
    "compare": "Show what differs between two jobs.",
    "wait": "Wait until jobs have ended.",
    "stop": "Stop a running job, with time to save its work.",
    "interrupt": "Simulate a spot interruption of a running job.",
    "publish": "Upload the artifacts of a finished job to its S3OutputPath.",
    "pack": "Pack the artifacts that a finished job could not pack.",
    "fetch": "Write the job file of a training job of the service.",
    "reproduce": "Run a job of the service here, and compare how both ended.",
    "submit": "Run a job file on SageMaker.",
    "serve": "Answer boto3, the AWS CLI and both SDKs.",
    "exec": "Run a program whose AWS calls reach this machine.",
    "rm": "Remove finished jobs and their logs.",
    "recover": "Finish jobs whose supervisor was killed.",
    "cache": "Show or clear the cache of S3 downloads.",
    "doctor": "Check whether this machine is ready to run jobs.",
    "config": "Show the configuration file, which gives defaults to flags.",
    "conformance": "Record what a container sees, and compare records.",
    "coverage": "Show how each field of a request is handled.",
    "schema": "Print the JSON Schema of a job file.",
    "completion": "Print a script for completion in bash, zsh or fish.",
    "help": "Show help about a command, a topic or an error.",
}
"""In the order in which people need them, each with the first sentence of its help: a list of commands loads none."""


def load_command(name: str) -> click.Command:
    """Import the module of a command; it has the command's name."""
    command: click.Command = import_module(f"smlocal.cli.commands.{name}").command
    _accept_debug(command)
    return command


def _accept_debug(command: click.Command) -> None:
    """Let --debug stand after the name of the command too. Only the help of smlocal itself shows it."""
    if any("--debug" in each.opts for each in command.params):
        return
    # Eager, as --help is: no option of the configuration file.
    option = click.Option(
        ["--debug"], is_flag=True, is_eager=True, hidden=True, expose_value=False, callback=_remember_debug
    )
    command.params.append(option)
    if isinstance(command, click.Group):
        for below in command.commands.values():
            _accept_debug(below)


def _remember_debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - as click calls it
    del parameter
    if value:
        context.ensure_object(dict)["debug"] = True

"""The job on the command line: a file, flags, or a file with flags that override it."""

import os
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from smlocal.api.overrides import DEFAULT_INSTANCE_TYPE
from smlocal.cli.described_documents import allow_local_paths_option, use_described_request
from smlocal.cli.terminal.printable import printable

if TYPE_CHECKING:
    from smlocal.api.overrides import Overrides
    from smlocal.errors import JobFileMissingError
    from smlocal.jobfile.document import Document
    from smlocal.platforms.job_files import AnyJobFile

JOB_FILE_ENDINGS = (".yaml", ".yml", ".json")


def _members(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, Any] | None:
    """The values of --set, for which a module is imported only if there are any."""
    if not given:
        return None
    from smlocal.cli.member_options import member_values

    return member_values(given)


_OVERRIDES = {
    "members": click.option(
        "--set",
        "members",
        multiple=True,
        callback=_members,
        metavar="PATH=VALUE",
        help="One member of the job file, before other options; repeatable.",
    ),
    "image": click.option("--image", metavar="IMAGE", help="Training image."),
    "channels": click.option(
        "--channel", "channels", multiple=True, metavar="NAME=PATH", help="Input channel; repeatable."
    ),
    "hyperparameters": click.option(
        "--hyperparameter", "-p", "hyperparameters", multiple=True, metavar="KEY=VALUE", help="Repeatable."
    ),
    "environment": click.option(
        "--env",
        "-e",
        "environment",
        multiple=True,
        metavar="KEY[=VALUE]",
        help="Environment variable; KEY alone passes on your own value. Repeatable.",
    ),
    "env_files": click.option(
        "--env-file",
        "env_files",
        multiple=True,
        type=click.Path(readable=False),
        metavar="FILE",
        help="File of KEY=VALUE lines, read as docker reads it; repeatable.",
    ),
    "output": click.option(
        "--output",
        "-o",
        type=click.Path(readable=False),
        metavar="DIR",
        help="Where artifacts go: DIR/<job>/output/model.tar.gz.",
    ),
    "name": click.option("--name", metavar="NAME", help="Job name. Default: the file name and the time."),
    "input_mode": click.option("--input-mode", metavar="MODE", help="TrainingInputMode."),
    "instance_type": click.option("--instance-type", metavar="TYPE", help=f"Default: {DEFAULT_INSTANCE_TYPE}."),
    "instance_count": click.option("--instance-count", type=int, metavar="N", help="Number of hosts."),
    "max_run": click.option("--max-run", type=int, metavar="SECONDS", help="StoppingCondition.MaxRuntimeInSeconds."),
    "role": click.option("--role", metavar="ARN", help="RoleArn. Only recorded, except with --credentials role."),
    "credentials": click.option(
        "--credentials",
        type=click.Choice(["none", "inherit", "role"]),
        help="AWS credentials for the containers. Default: none.",
    ),
    "sources": click.option(
        "--source",
        "sources",
        multiple=True,
        metavar="PREFIX=DIR",
        help="Local folder for an s3:// prefix; repeatable.",
    ),
    "code": click.option(
        "--code", type=click.Path(readable=False), metavar="DIR", help="Folder for /opt/ml/code, copy-on-write."
    ),
    "entrypoint": click.option(
        "--entrypoint",
        metavar="COMMAND",
        help="Started in place of the image's ENTRYPOINT, in one word, such as 'python /opt/ml/code/train.py'.",
    ),
    "staging": click.option(
        "--staging", type=click.Choice(["overlay", "copy"]), help="How channel data gets into the container."
    ),
    "publish": click.option(
        "--publish", is_flag=True, help="Upload artifacts and mirror checkpoints to their s3:// locations."
    ),
    "engines": click.option(
        "--engine",
        "engines",
        multiple=True,
        metavar="ENGINE",
        help="Engine for the hosts: an address or a Docker context; repeatable.",
    ),
    "gpus": click.option(
        "--gpus", metavar="GPUS", help="GPUs of each host: auto, all, none, a number, or ids such as device=0,2."
    ),
    "allow_cpu": click.option(
        "--allow-cpu", is_flag=True, help="Run a GPU or Neuron instance type without its devices."
    ),
    "memory": click.option("--memory", metavar="SIZE", help="Memory of each container, such as 512m."),
    "enforce_limits": click.option(
        "--enforce-limits",
        is_flag=True,
        help="Limit containers to the memory, CPUs and volume size of the instance type.",
    ),
    "processes_per_host": click.option(
        "--processes-per-host",
        type=click.IntRange(min=1),
        metavar="N",
        help="Processes that the training toolkit starts on each host.",
    ),
    "no_rules": click.option("--no-rules", is_flag=True, help="Do not evaluate debugger rules."),
    "strict": click.option("--strict", is_flag=True, help="Accept only what the service accepts."),
}
"""By the names of their parameters."""
OF_THIS_MACHINE = frozenset(
    {
        *("output", "credentials", "staging", "publish", "engines", "gpus", "allow_cpu", "memory", "enforce_limits"),
        *("no_rules", "strict"),
    }
)
"""Those that say how a job runs here, and nothing about the request."""


def job_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add everything that describes a job to a command: a file, and what overrides it."""
    command = override_options(allow_local_paths_option(command))
    return click.argument("job", required=False, type=click.Path(), metavar="[JOB]")(command)


def override_options(command: Callable[..., Any], *, without: AbstractSet[str] = frozenset()) -> Callable[..., Any]:
    """Add the options that override a request to a command, `without` some of them."""
    for name, option in reversed(_OVERRIDES.items()):
        if name not in without:
            command = option(command)
    return command


def read_job_options(given: dict[str, Any]) -> "tuple[AnyJobFile, str]":
    """The validated job, of any platform, and its name."""
    from smlocal.api.job_source import read_any

    path = given["job"]
    document, overrides = asked_document(given)
    return read_any(
        document, overrides, path=path, fill_in=path is None, strict=given["strict"], on_message=said(given)
    )


def asked_document(given: dict[str, Any]) -> "tuple[Document, Overrides]":
    """The job file with what the configuration file adds to it, and what overrides it."""
    from smlocal.api.job_source import command_line_document, read_file, read_standard_input
    from smlocal.errors import JobFileMissingError

    path = given["job"]
    overrides, defaults = overrides_and_defaults(given)
    if path is None:
        if not given["image"]:
            raise click.UsageError("Give a job file, or describe the job with --image and other flags.")
        document = command_line_document()
    elif path == "-":
        document = read_standard_input()
    else:
        try:
            document = read_file(path)
        except JobFileMissingError as error:
            raise _with_image_remedy(error, path) from error
    from smlocal.platforms.job_files import is_replica_job

    if is_replica_job(document.data):
        return document, overrides  # the configuration file is about CreateTrainingJob requests
    use_described_request(document, said(given), allow_local_paths=given.get("allow_local_paths", False))
    if defaults is not None:
        from smlocal.api.overrides import apply_defaults

        apply_defaults(document, defaults, origin="configuration file")
    return document, overrides


def said(given: dict[str, Any]) -> Callable[[str], None]:
    """What prints messages about the job that is read, unless --quiet is given."""
    return lambda text: None if given.get("quiet") else click.echo(f"! {printable(text)}", err=True)


def _with_image_remedy(error: "JobFileMissingError", path: str) -> "JobFileMissingError":
    """The error about a missing job file, with what to write if the name is meant as that of an image."""
    from smlocal.api.image_name import is_image_name

    if os.path.lexists(path) or path.endswith(JOB_FILE_ENDINGS) or not is_image_name(path):
        return error
    command = click.get_current_context().command_path
    remedy = (*error.remedy, f"If {path} is an image: {command} --image {path}")
    return type(error)(error.sentence, details=error.details, remedy=remedy)


def overrides_and_defaults(given: dict[str, Any]) -> "tuple[Overrides, Overrides | None]":
    """What the flags say, and what the configuration file says, if it says anything."""
    context = click.get_current_context()
    by_file = {name for name in given if context.get_parameter_source(name) is ParameterSource.DEFAULT_MAP}
    if not by_file:
        return _overrides(given), None
    nothing = {name: type(value)() if isinstance(value, tuple | bool) else None for name, value in given.items()}
    flags = {name: nothing[name] if name in by_file else value for name, value in given.items()}
    defaults = {name: value if name in by_file else nothing[name] for name, value in given.items()}
    return _overrides(flags), _overrides(defaults)


def _overrides(given: dict[str, Any]) -> "Overrides":
    """The flags, with the names that `smlocal.run` has for them."""
    overrides: Any = {name: value for name, value in given.items() if name not in {"job", "strict", "env_files"}}
    if given["environment"] or given["env_files"]:
        from smlocal.cli.environment_options import variables

        overrides["environment"] = dict(variables(given["env_files"], given["environment"]))
    else:
        overrides["environment"] = {}
    overrides["entrypoint"] = _words(given.get("entrypoint"))
    overrides["engines"] = given.get("engines") or None
    overrides["hyperparameters"] = _pairs(given["hyperparameters"], "--hyperparameter")
    overrides["sources"] = _pairs(given["sources"], "--source", "PREFIX=DIR")
    overrides["channels"] = _pairs(given["channels"], "--channel", "NAME=PATH")
    named: Overrides = overrides
    return named


def _words(command: str | None) -> tuple[str, ...] | None:
    """As a shell splits them."""
    if command is None:
        return None
    import shlex

    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise click.UsageError(f"--entrypoint {command}: {error}") from error
    if not words:
        raise click.UsageError("--entrypoint: name a program.")
    return words


def _pairs(given: tuple[str, ...], option: str, form: str = "KEY=VALUE") -> dict[str, str]:
    pairs = {}
    for text in given:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise click.UsageError(f"{option} {text}: write {form}.")
        pairs[key] = value
    return pairs

"""The job on the command line: a file, flags, or a file with flags that override it."""

import json
import os
import shlex
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from smlocal.api.job_files import REPLICAS, kind_of
from smlocal.api.overrides import Overrides, apply_defaults
from smlocal.cli.described_documents import allow_local_paths_option, use_described_request
from smlocal.cli.job_file_here import JOB_FILE_ENDINGS
from smlocal.cli.shown_help import shown_option
from smlocal.cli.terminal.printable import printable
from smlocal.errors import EnvFileError, JobFileMissingError, VariableUnsetError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import Form, Head, Option
from smlocal.jobfile.settings import OPTIONS
from smlocal.sagemaker.kinds import ENDPOINT, PIPELINE, TRANSFORM, TUNING

if TYPE_CHECKING:
    from smlocal.jobfile.job_reading import AskedJob


def _members(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, Any] | None:
    """The values of --set, for which a module is imported only if there are any."""
    if not given:
        return None

    return member_values(given)


def setting_option(keyword: str, **said: Any) -> Callable[..., Any]:
    """The flag of a setting, as the table of settings has it; `said` is what this command says differently."""
    option = OPTIONS[keyword]
    names = (*(option.flags or (option.flag,)), keyword)
    about: dict[str, Any] = {"metavar": option.metavar}
    match option.form:
        case Form.SWITCH:
            about = {"is_flag": True}
        case Form.PATH:
            about["type"] = click.Path(readable=False)
        case Form.NUMBER:
            about["type"] = int if option.least is None else click.IntRange(min=option.least)
        case Form.LIST | Form.MAP:
            about["multiple"] = True
        case Form.TEXT if option.choices:
            about["type"] = click.Choice(option.choices)
    if keyword == "members":
        about["callback"] = _members
    about |= {"help": option.help, "head": option.head, "common": option.common}
    return shown_option(*names, **about | said)


_ENV_FILES = shown_option(
    "--env-file",
    "env_files",
    multiple=True,
    type=click.Path(readable=False),
    metavar="FILE",
    help="File of KEY=VALUE lines, read as docker reads it; repeatable.",
    head=Head.JOB,
)
_STRICT = shown_option("--strict", is_flag=True, help="Accept only what the service accepts.", head=Head.RUN)


def job_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add everything that describes a job to a command: a file, and what overrides it."""
    command = override_options(allow_local_paths_option(command))
    return click.argument("job", required=False, type=click.Path(), metavar="[JOB]")(command)


def override_options(command: Callable[..., Any], *, submit: bool = False) -> Callable[..., Any]:
    """Add the options that override a request to a command; with `submit` those that mean something on the service."""
    options: list[Callable[..., Any]] = []
    for keyword in Overrides.__annotations__:
        option = OPTIONS[keyword]
        if not option.of_run and (option.is_submitted or not submit):
            options.append(setting_option(keyword))
        if keyword == "environment":
            options.append(_ENV_FILES)
    if not submit:
        options.append(_STRICT)
    for add in reversed(options):
        command = add(command)
    return command


def read_job_options(given: dict[str, Any], *, to_run: bool = True) -> "tuple[AskedJob, str]":
    """The validated job, of any platform, and its name. `to_run`: refuse kinds that `run` does not start."""
    from smlocal.api.job_source import read_any

    path = given["job"]
    document, overrides = asked_document(given)
    return read_any(
        document,
        overrides,
        path=path,
        fill_in=path is None,
        strict=given["strict"],
        to_run=to_run,
        on_message=said(given),
    )


def asked_document(given: dict[str, Any]) -> "tuple[Document, Overrides]":
    """The job file with what the configuration file adds to it, and what overrides it."""
    from smlocal.api.job_source import command_line_document, read_file, read_standard_input

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
    kind = kind_of(document.data)
    if kind is TUNING:
        use_described_request(document, said(given), allow_local_paths=given.get("allow_local_paths", False))
        return document, overrides
    if kind in {REPLICAS, TRANSFORM, ENDPOINT, PIPELINE}:
        return document, overrides  # the configuration file is about CreateTrainingJob requests
    use_described_request(document, said(given), allow_local_paths=given.get("allow_local_paths", False))
    if defaults is not None:
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
        overrides["environment"] = dict(variables(given["env_files"], given["environment"]))
    else:
        overrides["environment"] = {}
    overrides["entrypoint"] = _words(given.get("entrypoint"))
    for keyword in ("engines", "networks", "select", "spread_over"):
        overrides[keyword] = given.get(keyword) or None
    for keyword in ("hyperparameters", "sources", "channels", "add_hosts", "inputs", "processing_outputs"):
        overrides[keyword] = _pairs(given.get(keyword) or (), OPTIONS[keyword])
    named: Overrides = overrides
    return named


def _words(command: str | None) -> tuple[str, ...] | None:
    """As a shell splits them."""
    if command is None:
        return None

    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise click.UsageError(f"--entrypoint {command}: {error}") from error
    if not words:
        raise click.UsageError("--entrypoint: name a program.")
    return words


def _pairs(given: tuple[str, ...], option: Option) -> dict[str, str]:
    pairs = {}
    for text in given:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise click.UsageError(f"{option.flag} {text}: write {option.metavar}.")
        pairs[key] = value
    return pairs


_LARGEST = 1 << 20
"""Maximum bytes of a file: ten times the size of 100 entries with the longest names and values."""


def variables(files: Sequence[str], given: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and values, first those of files: `-e` overrides them."""
    for path in files:
        yield from _of_file(path)
    for text in given:
        name, separator, value = text.partition("=")
        if not name:
            raise click.UsageError(
                "--env without a name: write KEY=VALUE, or KEY to take the value from this environment."
            )
        yield name, value if separator else _of_caller(name, f"--env {name}")


def _of_caller(name: str, where: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise VariableUnsetError(
            f"the variable {name} is not set here, and {where} takes its value from this environment",
            remedy=[f"Set it first, or write {name}=VALUE."],
        )
    return value


def _of_file(path: str) -> Iterator[tuple[str, str]]:
    """Read a file as docker does: no quotes, no escapes, and a line that starts with `#` is a comment."""
    for number, line in enumerate(_text(path).split("\n"), start=1):
        entry = line.removesuffix("\r").lstrip()
        if not entry or entry.startswith("#"):
            continue
        name, separator, value = entry.partition("=")
        if not name or name.split() != [name]:
            raise EnvFileError(
                f"{path} is not a valid environment file",
                details=[
                    f"{path}:{number}   {'missing name before the =' if not name else 'the name contains a space'}"
                ],
                remedy=["Write KEY=VALUE on each line, or KEY to take the value from this environment."],
            )
        yield name, value if separator else _of_caller(name, f"{path}:{number}")


def _text(path: str) -> str:
    content = _content(path)
    if len(content) > _LARGEST:
        raise EnvFileError(f"{path} is too large for an environment file: more than {_LARGEST >> 20} MiB")
    try:
        return content.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise EnvFileError(
            f"{path} is not UTF-8 text", details=[f"{path}:{line}"], remedy=["Save it as UTF-8."]
        ) from error


def _content(path: str) -> bytes:
    """Read a regular file, or a pipe of the shell (`<(command)`). A named FIFO may have no writer, and would block."""
    try:
        mode = os.stat(path).st_mode
        piped = stat.S_ISFIFO(mode) and path.startswith(("/dev/", "/proc/"))
        if not (stat.S_ISREG(mode) or piped):
            kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise EnvFileError(f"the environment file {path!r} is {kind}", remedy=["Give a file with KEY=VALUE lines."])
        with open(path, "rb") as file:
            return file.read(_LARGEST + 1)
    except OSError as error:
        raise EnvFileError(
            f"the environment file {path!r} cannot be read: {error.strerror}",
            remedy=["Check the path after --env-file."],
        ) from error


_TEXT = tuple(f"{OPTIONS[keyword].place[0]}." for keyword in ("hyperparameters", "environment"))
"""Their values are text, also if they look like numbers."""


def member_values(given: Sequence[str]) -> dict[str, Any]:
    """The value of each path."""
    values: dict[str, Any] = {}
    for text in given:
        path, separator, value = text.partition("=")
        if not separator or not path:
            raise click.UsageError(f"--set {text}: write PATH=VALUE.")
        values[path] = value
        if not path.startswith(_TEXT):
            try:
                values[path] = json.loads(value)
            except (ValueError, RecursionError):
                values[path] = value
    return values

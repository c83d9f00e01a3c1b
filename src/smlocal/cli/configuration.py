"""The configuration file: defaults of flags, from a file in this folder or in one above it."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.cli.command_table import COMMANDS, load_command
from smlocal.errors import ConfigInvalidError, ConfigSyntaxError, ConfigUnreadableError
from smlocal.terms.validation.violation import closest

VARIABLE = "SMLOCAL_CONFIG"
FILE = "smlocal.toml"
_PROJECT = "pyproject.toml"
_TABLE = regex(rb"""tool["'\s]*\.["'\s]*smlocal|\[\s*tool\s*\]""")
"""Most projects have a pyproject.toml without a table for smlocal: it need not be parsed."""
_LARGEST = 1 << 20
_NO_FILE = f"Set {VARIABLE} to a file to read that one, or to an empty text to read none."


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """A file that was found, with the tables that are for smlocal."""

    path: str
    """Absolute."""
    data: Mapping[str, Any]

    def refusal(self, key: str, why: str) -> ConfigInvalidError:
        """The error about one key."""
        return ConfigInvalidError(
            f"{self.path}: {key} {why}",
            remedy=["A key is the long name of a flag, or a table with the name of a command: smlocal COMMAND --help."],
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One value of the file, for one command."""

    key: str
    """As it is in the file, with its table: `run.output`."""
    command: str
    parameter: str
    value: Any
    """As the flag takes it, paths made absolute."""


def find_configuration() -> Configuration | None:
    """The nearest file from this folder upwards; None if there is none."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return _configuration(os.path.abspath(chosen), needed=True) if chosen else None
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # it was deleted
        return None
    while True:
        for name in (FILE, _PROJECT):
            found = _configuration(os.path.join(folder, name))
            if found is not None:
                return found
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def settings_of(configuration: Configuration, name: str, command: click.Command) -> list[Setting]:
    """What the file says for one command: the keys for all commands, and its own table, which comes first."""
    tables = {key: value for key, value in configuration.data.items() if isinstance(value, dict)}
    for table in tables.keys() - {*COMMANDS}:
        raise _unknown(configuration, f"[{table}]", COMMANDS, "a command")
    for_all = {key: value for key, value in configuration.data.items() if key not in tables}
    own, keys = tables.get(name, {}), [_key(option) for option in _options(command)]
    for key in own:
        if key not in keys:
            raise _unknown(configuration, f"{name}.{key}", keys, f"a flag of smlocal {name}")
    for key in for_all:
        if key not in keys:
            _check_known(configuration, key)
    settings = (
        *_settings(configuration, "", for_all, name, command),
        *_settings(configuration, f"{name}.", own, name, command),
    )
    return list({each.parameter: each for each in settings}.values())


def _configuration(path: str, *, needed: bool = False) -> Configuration | None:
    content = _content(path, needed=needed)
    project = os.path.basename(path) == _PROJECT
    if content is None or (project and not _TABLE.search(content)):
        return None
    import tomllib

    try:
        data: Any = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigSyntaxError(f"{path} is not valid TOML", details=[str(error)]) from error
    if project:
        tool = data.get("tool")
        data = tool.get("smlocal") if isinstance(tool, dict) else None
        if data is None and not needed:
            return None
        if not isinstance(data, dict):
            raise ConfigInvalidError(f"{path} has no table [tool.smlocal]", remedy=[_NO_FILE])
    return Configuration(path=path, data=data)


def _content(path: str, *, needed: bool) -> bytes | None:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise ConfigUnreadableError(f"the configuration file {path} is not a regular file", remedy=[_NO_FILE])
        _check_owner(path, status)
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if needed:
            raise ConfigUnreadableError(
                f"the configuration file {path} does not exist", details=[f"{VARIABLE} names it."], remedy=[_NO_FILE]
            ) from error
        return None
    except OSError as error:
        raise ConfigUnreadableError(
            f"the configuration file {path} cannot be read: {error.strerror}",
            details=["smlocal looks for it in the current folder and in all folders above."],
            remedy=[_NO_FILE],
        ) from error
    if len(content) > _LARGEST:
        raise ConfigSyntaxError(f"{path} is too large for a configuration file: more than {_LARGEST >> 20} MiB")
    return content


def _check_owner(path: str, status: os.stat_result) -> None:
    """In a folder such as /tmp everybody can put a file above the folders of others."""
    shared = os.stat(os.path.dirname(path)).st_mode & stat.S_IWOTH
    if shared and status.st_uid not in {0, os.geteuid()}:
        raise ConfigUnreadableError(
            f"the configuration file {path} belongs to another user, in a folder where every user may write",
            details=[f"Its owner is uid {status.st_uid}; you are uid {os.geteuid()}."],
            remedy=[_NO_FILE],
        )


def _options(command: click.Command) -> Iterator[click.Option]:
    yield from (each for each in command.params if isinstance(each, click.Option) and not each.is_eager)


def _key(option: click.Option) -> str:
    """The long name of a flag, without its dashes."""
    return max(option.opts, key=len).lstrip("-")


def _settings(
    configuration: Configuration, table: str, data: Mapping[str, Any], name: str, command: click.Command
) -> Iterator[Setting]:
    for option in _options(command):
        key = _key(option)
        if key in data:
            value = _value(configuration, f"{table}{key}", data[key], option)
            yield Setting(key=f"{table}{key}", command=name, parameter=option.name or "", value=value)


def _check_known(configuration: Configuration, key: str) -> None:
    """Another command may have the flag. Only for keys that this one does not have are all commands imported."""
    known = {_key(option) for name in COMMANDS for option in _options(load_command(name))}
    if key not in known:
        raise _unknown(configuration, key, sorted(known), "a flag of any command")


def _unknown(configuration: Configuration, key: str, known: Iterable[str], what: str) -> ConfigInvalidError:
    near = closest(key.strip("[]").rpartition(".")[2], known)
    return configuration.refusal(key, f"is not {what}{f'; did you mean {near}?' if near else ''}")


def _value(configuration: Configuration, key: str, value: Any, option: click.Option) -> Any:
    if option.is_flag:
        if not isinstance(value, bool):
            raise configuration.refusal(key, "must be true or false")
        return value
    if option.multiple:
        if not isinstance(value, list):
            raise configuration.refusal(key, "must be a list, because the flag is repeatable")
        return [_single(configuration, key, each, option) for each in value]
    return _single(configuration, key, value, option)


def _single(configuration: Configuration, key: str, value: Any, option: click.Option) -> Any:
    kinds, wanted = _kinds(option)
    if type(value) not in kinds:
        raise configuration.refusal(key, f"must be {wanted}")
    try:
        option.type.convert(value, option, None)
    except click.BadParameter as error:
        raise configuration.refusal(key, f"is not valid: {error.message}") from error
    folder = os.path.dirname(configuration.path)
    form = option.metavar or ""
    if form in {"DIR", "FILE"}:
        return _path(value, folder)
    if form.endswith(("=DIR", "=PATH")):
        name, equals, path = value.partition("=")
        return f"{name}{equals}{_path(path, folder)}"
    return value


def _kinds(option: click.Option) -> tuple[tuple[type, ...], str]:
    if isinstance(option.type, click.types.IntParamType):
        return (int,), "a whole number"
    if isinstance(option.type, click.types.FloatParamType):
        return (int, float), "a number"
    return (str,), "a string"


def _path(text: str, folder: str) -> str:
    """Relative paths are relative to the file. `-` is standard output."""
    if not text.strip() or text == "-" or "://" in text:
        return text
    return os.path.abspath(os.path.join(folder, os.path.expanduser(text)))

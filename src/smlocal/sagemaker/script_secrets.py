"""Secrets of the plan's script: it contains none, and takes them from environment variables."""

import json
import re
from collections.abc import Collection, Sequence
from shlex import quote

from smlocal.jobs.contract.json_size import compact
from smlocal.jobs.contract.masking import masked, masked_words, with_strings

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Mark the name of a variable in a JSON document; private-use characters."""
_VARIABLE = "[A-Za-z_][A-Za-z0-9_]*"
_TO_JSON = (
    r"""json() { printf %s "$1" | sed -z 's/[\\"]/\\&/g; s/\n/\\n/g; s/\r/\\r/g; s/\t/\\t/g'; }  # as a JSON string"""
)


class ScriptSecrets:
    """Writes values as words of a shell script, and collects the variables that replace secrets."""

    def __init__(self, environment: Collection[str]) -> None:
        """Take the names of the containers' variables, which no other value may get."""
        self._taken = set(environment)
        self._of_environment: list[str] = []
        self._of_files: dict[tuple[str, str], str] = {}
        self._of_command: list[str] = []

    def required(self) -> list[str]:
        """Lines that end the script if a secret used so far is not set."""
        others = [*self._of_files.values(), *self._of_command]
        lines = [f': "${{{name}:?}}"; export {name}' for name in self._of_environment]
        lines += [f': "${{{name}:?}}"' for name in others]
        if lines:
            lines.insert(
                0, f"# Secrets are not included. Set these first: {' '.join([*self._of_environment, *others])}"
            )
        return [*lines, _TO_JSON] if self._of_files else lines

    def variable(self, name: str, value: str) -> str:
        """The argument of `docker create -e`; docker reads a name without a value from its own environment."""
        if not _is_secret(name, value):
            return quote(f"{name}={value}")
        if not re.fullmatch(_VARIABLE, name):  # the service has no such names
            return quote(name)
        if name not in self._of_environment:
            self._of_environment.append(name)
        return name

    def file(self, path: str, content: bytes) -> str:
        """The content of a file."""
        text = content.decode(errors="surrogateescape")
        if not path.endswith(".json"):
            return quote(text)
        marked = compact(with_strings(json.loads(content), self._marked)).decode(errors="surrogateescape")
        # Only what was marked here: the characters may be in a value, with anything between them.
        names = "|".join(self._of_files.values())
        pieces = re.split(f"{_OPEN}({names}){_CLOSE}", marked) if names else [marked]
        if len(pieces) == 1:
            return quote(text)
        return "".join(f'"$(json "${piece}")"' if index % 2 else quote(piece) for index, piece in enumerate(pieces))

    def command(self, words: Sequence[str]) -> list[str]:
        """Entrypoint and arguments."""
        written = []
        for index, (word, shown) in enumerate(zip(words, masked_words(words), strict=True)):
            if word == shown:
                written.append(quote(word))
            else:
                self._of_command.append(f"ARGUMENT_{index}")
                written.append(f'"$ARGUMENT_{index}"')
        return written

    def _marked(self, name: str, value: str) -> str:
        if not _is_secret(name, value):
            return value
        variable = self._of_files.get((name, value))
        if variable is None:
            stem = variable = "HYPERPARAMETER_" + re.sub(r"\W", "_", name, flags=re.ASCII).upper()
            number = 1
            while variable in self._taken:
                number += 1
                variable = f"{stem}_{number}"
            self._taken.add(variable)
            self._of_files[name, value] = variable
        return f"{_OPEN}{variable}{_CLOSE}"


def _is_secret(name: str, value: str) -> bool:
    return value != "" and masked(name, value) != value

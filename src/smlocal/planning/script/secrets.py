"""Secrets in the script: it has none, and takes them from the environment of whoever runs it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Self

from smlocal.contract.documents.config_files import compact
from smlocal.contract.secrets.masking import masked, masked_words, with_strings
from smlocal.planning.model import JobPlan
from smlocal.planning.script.shell import quote
from smlocal.quick_dataclass import dataclass

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Around the name of a variable while a document is put together; characters for private use."""
_VARIABLE = f"{_OPEN}(.*?){_CLOSE}"
_JSON = (
    r"""json() { printf %s "$1" | sed -z 's/[\\"]/\\&/g; s/\n/\\n/g; s/\r/\\r/g; s/\t/\\t/g'; }  # as a JSON string"""
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Secrets:
    """The variables that stand for the secrets of a plan."""

    of_environment: tuple[str, ...]
    of_files: Mapping[tuple[str, str], str]
    """By the name in the config file, and the value."""
    of_words: Mapping[int, str]
    """For a word of the command as a whole, by its index in entrypoint and arguments."""

    @classmethod
    def of(cls, plan: JobPlan) -> Self:
        """Look through a plan."""
        environment = {name: value for host in plan.hosts for name, value in host.environment.items()}
        words = _words(plan)
        pairs = zip(words, masked_words(words), strict=True)
        return cls(
            of_environment=tuple(name for name, value in environment.items() if is_secret(name, value)),
            of_files=_of_files(plan, taken=set(environment)),
            of_words={index: f"ARGUMENT_{index}" for index, (word, shown) in enumerate(pairs) if word != shown},
        )

    def wanted(self) -> Iterator[str]:
        """Lines that end the script at once when a secret is missing."""
        others = [*self.of_files.values(), *self.of_words.values()]
        if self.of_environment or others:
            yield f"# Secrets are not included. Set these first: {' '.join([*self.of_environment, *others])}"
        yield from (f': "${{{name}:?}}"; export {name}' for name in self.of_environment)
        yield from (f': "${{{name}:?}}"' for name in others)
        if self.of_files:
            yield _JSON

    def file(self, path: str, content: bytes) -> str:
        """The content of a file as a word of the script."""
        if not self.of_files or not path.endswith(".json"):
            return quote(content.decode("utf-8", errors="surrogateescape"))

        def reference(name: str, value: str) -> str:
            variable = self.of_files.get((name, value))
            return value if variable is None else f"{_OPEN}{variable}{_CLOSE}"

        text = compact(with_strings(json.loads(content), reference)).decode()
        pieces = re.split(_VARIABLE, text)
        return "".join(f'"$(json "${piece}")"' if index % 2 else quote(piece) for index, piece in enumerate(pieces))

    def image_and_command(self, plan: JobPlan) -> list[str]:
        """What follows the options of `docker create`."""
        words = [
            f'"${self.of_words[index]}"' if index in self.of_words else quote(word)
            for index, word in enumerate(_words(plan))
        ]
        head = 1 if plan.entrypoint else 0
        return [*(f"--entrypoint {word}" for word in words[:head]), " ".join([quote(plan.image), *words[head:]])]


def is_secret(name: str, value: str) -> bool:
    """True for a variable or hyperparameter that the script must not show."""
    return value != "" and masked(name, value) != value


def _words(plan: JobPlan) -> list[str]:
    return [*(plan.entrypoint or ()), *(plan.command or ())]


def _of_files(plan: JobPlan, *, taken: set[str]) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}

    def collect(name: str, value: str) -> str:
        if (name, value) not in found and is_secret(name, value):
            stem = "HYPERPARAMETER_" + re.sub(r"\W", "_", name, flags=re.ASCII).upper()
            variable = next(each for each in _numbered(stem) if each not in taken)
            taken.add(variable)
            found[name, value] = variable
        return value

    for content in dict.fromkeys(c for host in plan.hosts for path, c in host.files.items() if path.endswith(".json")):
        with_strings(json.loads(content), collect)
    return found


def _numbered(stem: str) -> Iterator[str]:
    yield stem
    number = 2
    while True:
        yield f"{stem}_{number}"
        number += 1

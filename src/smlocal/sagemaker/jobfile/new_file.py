"""What a folder tells about a new job file. The text is in the `new_file` of each kind."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from smlocal.base.quick_dataclass import dataclass

CODE_ENDINGS: Final = (".py", ".ipynb", ".sh")
_METRIC: Final = re.compile(
    r"\b((?:val|valid|validation|eval|test|train)?[_:-]?(?:accuracy|acc|auc|f1|score|loss|rmse|mae|mse|error))"
    r"(\s?[=:]\s?)[{%]"
)
_NAMED: Final = re.compile(
    r"""(?x)
    (?:hyper_?param(?:eter)?s|param(?:eter)?s|hps?) \s* (?:\.get\(|\[) \s* ["']([A-Za-z]\w*)["']
    | add_argument\( \s* ["']--([A-Za-z][\w-]*)["'] [^)]* type \s*=\s* (?:int|float)
    """
)
_SMALLER_IS_BETTER: Final = ("loss", "rmse", "mae", "mse", "error")


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltImage:
    """What a Dockerfile says about how a training job starts."""

    entrypoint: str
    """As it is written; empty without one, which may still be in the base image."""
    toolkit: bool
    """True if it installs sagemaker-training."""
    program: str
    """SAGEMAKER_PROGRAM; empty if it is not set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewJobFile:
    """A new job file, with what its folder tells."""

    file: str
    image: str
    built: BuiltImage | None
    """None if no Dockerfile is known."""
    data: Mapping[str, str]
    """The folders with data beside it, by names for channels."""
    records: str
    """A file with records without labels beside it, if any."""
    programs: Mapping[str, Sequence[str]]
    """The folders with programs beside it, `.` first, and the programs' names."""
    texts: Sequence[str] = field(repr=False)
    """The small programs' texts."""

    def head(self, request: str, command: str = "run") -> str:
        """The first lines: the request, and the commands for the file."""
        file = comment(self.file)
        return (
            f"# {request}. {command.capitalize()} it here:  smlocal {command} {file}\n"
            f"# Check it without running it:  smlocal validate {file}"
            f"      See what a run would do:  smlocal plan {file}\n"
        )

    @property
    def quoted_image(self) -> str:
        """The image in YAML."""
        return json.dumps(self.image)

    @property
    def metric(self) -> tuple[str, str]:
        """A metric that the programs print, and the text behind its name: `loss`, `=`. Empty if not found."""
        found = next((each for text in self.texts for each in _METRIC.finditer(text)), None)
        return ("", "") if found is None else (found[1].lstrip("_:-"), found[2])

    @property
    def hyperparameter(self) -> str:
        """A hyperparameter that the programs read; empty if not found."""
        names = (each[1] or each[2] for text in self.texts for each in _NAMED.finditer(text))
        return next(names, "")


def smaller_is_better(metric: str) -> bool:
    """True for a loss or an error."""
    return metric.lower().endswith(_SMALLER_IS_BETTER)


def channels(data: Mapping[str, str]) -> Iterator[str]:
    """The lines of InputDataConfig; as a comment where there is no data yet."""
    yield "InputDataConfig: # the container finds each channel in /opt/ml/input/data/NAME"
    for name, folder in (data or {"training": "./data"}).items():
        yield f"  - ChannelName: {name}"
        yield "    DataSource:"
        yield "      S3DataSource:"
        yield "        S3DataType: S3Prefix"
        yield f"        S3Uri: {json.dumps(folder)} # a folder, a file or an s3:// location"


def comment(text: str) -> str:
    """In one line, without characters that a YAML file cannot have."""
    return "".join(character if character.isprintable() else "?" for character in text)

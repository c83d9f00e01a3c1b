"""The image of a job and its program, and entrypoints that drop the argument `train` or break it."""

from collections.abc import Sequence
from typing import Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.facts import ImageFacts

_SHELLS: Final = {"sh", "ash", "bash", "dash", "hush", "ksh", "ksh93", "mksh", "yash", "zsh"}
_STARTERS: Final = {"busybox", "env", "toybox"}
"""Programs that may start a shell."""
_INITS: Final = {"catatonit", "docker-init", "dumb-init", "tini", "tini-static"}
_WITH_ARGUMENT: Final = {"--rcfile", "--init-file"}
_MODEL_TRAINER: Final = "/sm_drivers/"
"""The channel with the scripts of ModelTrainer, in the command that it asks for."""
MODEL_TRAINER_STOP: Final = (
    "the first process of a ModelTrainer job is bash, which does not pass SIGTERM on: each stop takes the whole grace "
    "period, and a checkpoint that is written on SIGTERM is lost"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ImagePlan:
    """An image, and its program."""

    name: str
    facts: ImageFacts | None = None
    """None if the image is not on the engine."""
    entrypoint: tuple[str, ...] | None
    """None for the image's own."""
    command: tuple[str, ...] | None
    """None for the image's own."""


def is_model_trainer(words: Sequence[str]) -> bool:
    """True for the command of a job that ModelTrainer of the SageMaker SDK version 3 makes."""
    return len(words) > 1 and _program(words[0]) in _SHELLS and any(_MODEL_TRAINER in word for word in words)


def is_shell_form(entrypoint: Sequence[str]) -> bool:
    """True for `[shell, options…, "-c", line]`, which the engine makes of an ENTRYPOINT that is not a JSON list.

    Shell and options come from the image's SHELL instruction. `train` becomes the shell's `$0`, and the line does not
    get it. It does if one more word follows the line.
    """
    words = list(entrypoint)
    while words and _program(words[0]) in _STARTERS:
        del words[0]
    if not words or _program(words.pop(0)) not in _SHELLS:
        return False
    command = False
    while words and words[0][:1] in {"-", "+"}:
        option = words.pop(0)
        if option == "--":
            break
        if option.startswith("--"):
            del words[: option in _WITH_ARGUMENT]
            continue
        command = command or "c" in option
        del words[: option.count("o") + option.count("O")]  # each is followed by an option name
    return command and len(words) == 1


def is_shell(word: str) -> bool:
    """Whether a program is a shell, by its name."""
    return _program(word) in _SHELLS


def init_program(entrypoint: Sequence[str]) -> str | None:
    """The init program, such as tini, that an ENTRYPOINT begins with."""
    name = _program(entrypoint[0]) if entrypoint else ""
    return name if name in _INITS else None


def _program(word: str) -> str:
    return word.rpartition("/")[2]

"""What the ENTRYPOINT of an image does with `train` and with signals."""

from collections.abc import Sequence
from typing import Final

_SHELLS: Final = {"sh", "ash", "bash", "dash", "hush", "ksh", "ksh93", "mksh", "yash", "zsh"}
_STARTERS: Final = {"busybox", "env", "toybox"}
"""What a shell may be started by."""
_INITS: Final = {"catatonit", "docker-init", "dumb-init", "tini", "tini-static"}
_WITH_ARGUMENT: Final = {"--rcfile", "--init-file"}


def is_shell_form(entrypoint: Sequence[str]) -> bool:
    """True for `[shell, options…, "-c", line]`: what the engine makes of an ENTRYPOINT that is not a JSON list.

    The shell and its options are those of the image's SHELL instruction. The shell takes `train` as its `$0`. With
    one more word after the line, which is then `$0`, the line does get `train`.
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
        del words[: option.count("o") + option.count("O")]  # each is followed by the name of what it sets
    return command and len(words) == 1


def init_program(entrypoint: Sequence[str]) -> str | None:
    """The init program that an ENTRYPOINT begins with, such as tini."""
    name = _program(entrypoint[0]) if entrypoint else ""
    return name if name in _INITS else None


def _program(word: str) -> str:
    return word.rpartition("/")[2]

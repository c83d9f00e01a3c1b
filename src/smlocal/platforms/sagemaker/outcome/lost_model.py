"""Where the output of a program says that it has saved something which is not kept. Pure."""

import re

from smlocal.platforms.sagemaker.contract import paths

_SAVED = re.compile(
    r"\b(?:sav(?:ed|ing)|wr(?:ote|itten|iting)|export(?:ed|ing)|dump(?:ed|ing)|stor(?:ed|ing))\b", re.IGNORECASE
)
_PATH = re.compile(r"(?<![\w/.:])/[\w./+@-]{2,500}")
_LONGEST_LINE = 2000
_NO_FILES = ("/dev/", "/proc/", "/sys/")


def lost_model(log: str) -> str | None:
    """A hint for the last path outside the folder of the model that the log says was saved."""
    for line in reversed(log.splitlines()):
        text = line[:_LONGEST_LINE]
        if _SAVED.search(text):
            for path in _PATH.findall(text):
                hint = _hint(path.rstrip(".-/"))
                if hint:
                    return hint
    return None


def _hint(path: str) -> str:
    if path.startswith(_NO_FILES) or f"{path}/".startswith(f"{paths.MODEL}/"):
        return ""
    if f"{path}/".startswith(f"{paths.OUTPUT_DATA}/"):
        return f"The log names {path}, which is in output.tar.gz: the model is what is below {paths.MODEL}."
    return f"The log names {path}, which is not below {paths.MODEL}: only what is there is kept as the model."

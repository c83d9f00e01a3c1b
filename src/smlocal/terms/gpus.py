"""The setting `Local.Gpus`, and the GPUs of one container."""

import re
from collections.abc import Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.validation.violation import closest

GpuChoice = int | str | list[int | str]
"""A valid value of `Local.Gpus`."""
WORDS: Final = ("auto", "all", "none")
VISIBLE_DEVICES: Final = "NVIDIA_VISIBLE_DEVICES"
_ID: Final = r"\d{1,3}|(GPU|MIG)-[\w./-]{1,100}"
_FORMS = 'auto, all, none, a number of GPUs for each host, or a list of ids such as [0, 2] or ["GPU-8f1c…"]'

SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        {"enum": list(WORDS)},
        {"type": "integer", "minimum": 0, "maximum": 64},
        {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": ["integer", "string"]}},
    ]
}
_MOST = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuDevices:
    """The GPUs of one container."""

    ids: tuple[str, ...]
    """Numbers of `nvidia-smi`, or UUIDs; empty for all GPUs if they are not known."""
    every: bool = False
    """True if these are all GPUs of the machine; they are requested as `all`, as on the service."""
    cdi: bool = False
    """True if the engine has them as CDI devices."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of CDI devices."""
        return tuple(f"nvidia.com/gpu={each}" for each in (("all",) if self.every else self.ids))


def names_gpus(environment: Mapping[str, str]) -> bool:
    """Whether a container runtime of NVIDIA may give GPUs to a container with these variables that requests none.

    Images with CUDA_VERSION and no other variable are old ones of NVIDIA, which get all GPUs.
    """
    return environment.get(VISIBLE_DEVICES, "void") not in {"", "void"} or "CUDA_VERSION" in environment


def gpus_trouble(value: Any) -> str | None:
    """The mistake in a value of `Local.Gpus`; None if it is valid."""
    if isinstance(value, str):
        if value in WORDS:
            return None
        meant = closest(value, WORDS)
        return f"is {value!r} and must be {_FORMS}{f': did you mean {meant}?' if meant else ''}"
    if isinstance(value, int) and not isinstance(value, bool):
        return None if 0 <= value <= _MOST else f"is {value} and must be between 0 and {_MOST} for each host"
    if not isinstance(value, list) or not value:
        return f"must be {_FORMS}"
    for each in value:
        if isinstance(each, bool) or not isinstance(each, int | str) or not re.fullmatch(_ID, str(each), re.ASCII):
            return f"has {each!r}, which is not a valid GPU id: write its number in nvidia-smi, or its UUID (GPU-…)"
    twice = next((each for each in value if [str(one) for one in value].count(str(each)) > 1), None)
    return None if twice is None else f"has {twice} twice"


def read_gpus(text: str) -> GpuChoice:
    """Parse the flag `--gpus`: `auto`, `2`, `0,1`, or `device=0,1` as in docker."""
    ids = text.removeprefix("device=")
    if ids != text or "," in ids:
        return [int(each) if each.isascii() and each.isdigit() else each for each in ids.split(",") if each]
    return int(text) if text.isascii() and text.isdigit() else text

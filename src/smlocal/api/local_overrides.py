"""Overrides of a job of replicas: only settings of this machine, because its request is written in its file."""

import os
from typing import TYPE_CHECKING

from smlocal.api.member_paths import set_members
from smlocal.api.overrides import Overrides
from smlocal.errors import UsageRefusedError

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document

_PLACES = {
    "pull": ("Local", "Pull"),
    "keep": ("Local", "Keep"),
    "engines": ("Local", "Engines"),
    "output": ("Local", "Output"),
    "memory": ("Local", "Memory"),
}
_SWITCHES = {"allow_cpu": ("Local", "AllowCpu"), "enforce_limits": ("Local", "EnforceInstanceLimits")}
_KEYWORDS = "keyword arguments"
_FLAGS = {"channels": "channel", "hyperparameters": "hyperparameter", "environment": "env", "env_files": "env_file"}
"""Flags that are not spelled as the keywords are."""

_ABSENT = {"credentials", "publish", "staging", "code", "entrypoint", "input_mode", "no_rules", "processes_per_host"}
"""What jobs of replicas have nothing of, in their files neither."""
_VARIABLES = {"environment", "env_files"}
_ARGUMENTS = {"hyperparameters"}


def apply_local_overrides(document: "Document", given: Overrides) -> str | None:
    """Change the document; returns the name that was given. What is for another platform's requests is refused."""
    name: str | None = None
    refused = []
    set_members(document, given.get("members") or {})
    for option in (each for each in Overrides.__annotations__ if each != "members"):
        value = given.get(option)
        if value is None or value is False or value == {}:
            continue
        if option == "name":
            name = str(value)
        elif option in _PLACES:
            setting = list(value) if isinstance(value, tuple) else value
            document.set(_PLACES[option], os.path.abspath(str(value)) if option == "output" else setting)
        elif option in _SWITCHES:
            document.set(_SWITCHES[option], True)
        elif option == "gpus":
            from smlocal.contract.gpus import read_gpus

            document.set(("Local", "Gpus"), read_gpus(value) if isinstance(value, str) else value)
        elif option == "sources" and isinstance(value, dict):
            for location, folder in value.items():
                document.set(("Local", "Sources", location), os.path.abspath(os.fspath(folder)))
        else:
            refused.append(option)
    if refused:
        spelled = refused if document.overrides == _KEYWORDS else [_flag(option) for option in refused]
        raise UsageRefusedError(
            f"{document.name} is no CreateTrainingJob request, and only such a request takes {', '.join(spelled)}",
            remedy=_remedies(document, dict(zip(refused, spelled, strict=True))),
        )
    return name


def _remedies(document: "Document", refused: dict[str, str]) -> list[str]:
    """What to do instead; `refused` are the options and how they were spelled."""
    from smlocal.platforms.job_files import has_environment

    absent = _ABSENT if has_environment(document.data) else _ABSENT | _VARIABLES
    without = [spelled for option, spelled in refused.items() if option in absent]
    others = [spelled for option, spelled in refused.items() if option not in absent | _VARIABLES | _ARGUMENTS]
    remedies = []
    if without:
        remedies.append(f"Leave out {', '.join(without)}: the platform of this job has no such thing.")
    if refused.keys() & _ARGUMENTS:
        remedies.append("Write the program's arguments into args of the job file.")
    if refused.keys() & (_VARIABLES - absent):
        remedies.append("Write environment variables into env of the job file.")
    if others:
        remedies.append(f"Write into the job file what {', '.join(others)} should change.")
    return remedies


def _flag(option: str) -> str:
    return f"--{_FLAGS.get(option, option).replace('_', '-')}"

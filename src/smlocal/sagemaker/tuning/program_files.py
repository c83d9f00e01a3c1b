"""Whether the files of a job on this machine name its tuned hyperparameters.

The program may read others in the image. So warn only if the files name other hyperparameters of the job, or ask for
single hyperparameters, and do not name this one.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from smlocal.base.regex import regex
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.tuning.tuning_file import TuningFile
from smlocal.terms.listing import Listing
from smlocal.terms.rights import EVERYTHING
from smlocal.terms.validation.violation import closest

_SOURCES: Final = regex(r"(?:^|/)train$|\.(?:py|R|r|sh|jl|js|ts|java|scala|go|rs|c|cc|cpp|pl|rb|lua|ipynb)$")
_NOT_OF_THE_JOB: Final = frozenset({"__pycache__", "node_modules", "site-packages", "smlocal-output"})
_MOST_FILES: Final = 200
_MOST_BYTES: Final = 1 << 18
"""Bytes read of one file."""
_MOST_LEVELS: Final = 3
_MOST_SEEN: Final = 5000
"""Entries of the folder of the job file."""
_ASKS: Final = regex(r"\bhyperparameters\b|SM_HP|add_argument|click\.option|getopt", re.IGNORECASE)
_TAKES_ALL: Final = regex(r"\*\*|\.items\(|parse_known_args|setattr|\bvars\(")
"""Programs that pass on all hyperparameters without their names."""
_WORDS: Final = regex(r"['\"](?:--)?([A-Za-z][\w-]{1,63})['\"]")
_ALIKE: Final = 0.75
_ALMOST: Final = 0.9
"""The likeness without files: enough for a typing error, not for min_ and max_."""


def unread(file: TuningFile, plans: Sequence[JobPlan]) -> Iterator[str]:
    """Sentences about tuned hyperparameters that no file names; `plans`: one training job per definition."""
    beside = _files_beside(file) if plans[0].rights == EVERYTHING else []
    for definition, plan in zip(file.definitions, plans, strict=True):
        paths = [*islice(dict.fromkeys([*_files_inside(plan), *beside]), _MOST_FILES)]
        files = "\n".join(_beginning(path) for path in paths)
        started = "\n".join(map(str, (*(plan.request.get("Environment") or {}).values(), *_command(plan))))
        tuned = [each.name for each in definition.search.ranges]
        statics = [name for name in definition.request["HyperParameters"] if not name.startswith(("_", "sagemaker_"))]
        asks = bool(_ASKS.search(files)) and not _TAKES_ALL.search(files)
        asks = asks or any(_names(files, name) for name in (*statics, *tuned))
        for name in tuned:
            if not (asks or statics) or _names(f"{files}\n{started}", name):
                continue
            if asks:
                near = closest(name, {*statics, *_WORDS.findall(files)} - {*tuned}, likeness=_ALIKE)
                where = os.path.basename(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
                meant = f"; did you mean {near}?" if near else ": its values may have no effect"
                yield f"the tuned hyperparameter {name} is in no file of the job ({where}){meant}"
            elif near := closest(name, statics, likeness=_ALMOST):
                yield f"the tuned hyperparameter {name} is almost the static {near}: is one of them misspelt?"


def _names(text: str, name: str) -> bool:
    text, name = text.replace("-", "_"), name.replace("-", "_")
    upper = name.upper()
    if name not in text and upper not in text:
        return False
    return re.search(rf"(?<!\w)_*{re.escape(name)}(?!\w)|SM_HP_{re.escape(upper)}(?!\w)", text) is not None


def _command(plan: JobPlan) -> tuple[str, ...]:
    return (*(plan.image.entrypoint or ()), *(plan.image.command or ()))


def _files_inside(plan: JobPlan) -> Iterator[str]:
    """The sources in local code and channels."""
    code = [] if plan.inputs.code is None else [plan.inputs.code.listing]
    for listing in (*code, *(tree.listing for tree in plan.trees)):
        if listing.root and listing.links:
            yield from islice(_sources(listing), _MOST_FILES)


def _sources(listing: Listing) -> Iterator[str]:
    for index, path in enumerate(islice(listing.paths, _MOST_SEEN)):
        if _SOURCES.search(path):
            yield listing.file(index)


def _files_beside(file: TuningFile) -> list[str]:
    """The sources in the folder of the job file."""
    if file.document.elsewhere is not None:
        return []
    found: list[str] = []
    seen, top = 0, file.document.directory
    for folder, folders, names in os.walk(top):
        seen += len(folders) + len(names)
        if seen > _MOST_SEEN or len(found) > _MOST_FILES:
            break
        deep = folder[len(top) :].count(os.sep) >= _MOST_LEVELS
        ours = (each for each in folders if each not in _NOT_OF_THE_JOB and not each.startswith("."))
        folders[:] = [] if deep or "pyvenv.cfg" in names else sorted(ours)
        found += [os.path.join(folder, name) for name in sorted(names) if _SOURCES.search(name)]
    return found


def _beginning(path: str) -> str:
    """The beginning of a file; empty if it is not readable or not regular."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""

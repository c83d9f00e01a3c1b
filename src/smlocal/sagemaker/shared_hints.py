"""Hints for several kinds of jobs: missing input files, files that are not kept, missing Python modules.

Only for failed jobs, or jobs without a model or output. Hints name only what was seen.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice

from smlocal.base.foreign_archive.stream import ArchiveError, ByteStream
from smlocal.base.foreign_archive.tar_entries import tar_entries
from smlocal.errors import EngineError
from smlocal.jobs.decide.attempt_outcome import Archive, Symptoms, Trouble
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.terms.channels import TreePlan

_SHOWN = 3
_LONGEST_SHOWN = 100
_EXCEPTION = re.compile(r"^[\w.]*(?:Error|Exception)\b: ")
_CHAINED = re.compile(r"^(?:During handling of the above exception|The above exception was the direct cause)")
MISSING = re.compile(
    r"[Nn]o such file|[Nn]ot found|does ?n[o']t exist|[Nn]o files|[Nn]ot a directory|"
    r"(?:[Cc]annot|[Cc]an't|[Cc]ould not|[Cc]ouldn't) (?:find|open|access|read)|is not a directory"
)
_LOOKED_AT = 12
"""Paths to look for in one container."""
_MODEL = re.compile(
    r"(?:model|weights|checkpoint|ckpt)[^/]*(?:/[^/]*)?$"
    r"|\.(?:joblib|pkl|pickle|pt|pth|ckpt|bin|h5|hdf5|keras|onnx|safetensors|pb|tflite|mlmodel|rds|ubj|cbm|npz)$",
    re.IGNORECASE,
)
_NOT_OF_THE_PROGRAM = re.compile(
    r"^/(?:bin|boot|dev|etc|lib\w*|proc|run|sbin|sys|usr(?!/src/)|var(?!/tmp/)|opt/smlocal|opt/conda)/"
    r"|/(?:site-packages|dist-packages|__pycache__)/|/\.|\.(?:py[co]?|sh|md|txt|cfg|ini|toml|ya?ml|log|lock|pid|sock|whl)$"
)
"""Paths of systems, packages and caches, and of code that a launcher unpacks."""
_PASSING = re.compile(r"^(?:/var)?/tmp/|^/opt/ml/code/")
"""Folders for temporary files."""


def last_lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines that may say why a program ended, from the last one up, with their places.

    Text before the last exception was not a reason to end, unless Python says that it led to it.
    """
    hidden = False
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        if not hidden:
            yield index, line
        hidden = not _CHAINED.search(line) and (hidden or _EXCEPTION.search(line) is not None)


def other_file(tree: TreePlan, what: str, below: str, word: str) -> str:
    """A sentence that a folder lacks a file, and what it has. `word`: what names the file."""
    if not below or tree.listing.failure or not tree.listing.paths:
        return ""
    there, wild = tree.listing.paths, any(letter in below for letter in "*?[")
    if wild or any(path.startswith(below) for path in there):  # a name with a space is cut off in `below`
        return ""
    more = ", …" if len(there) > _SHOWN else ""
    names = ", ".join(path[:_LONGEST_SHOWN] for path in there[:_SHOWN])
    count = f"{len(there)} file{'s' * (len(there) != 1)}"
    return f"The {what} has no {below}, which the {word} names. It has {count}: {names}{more}."


def left_files(symptoms: Symptoms) -> list[str]:
    """Up to three files that were written but not kept: model files, else others."""
    try:
        changed = symptoms.changed()
    except EngineError:
        return []
    parents = {parent for path in changed for parent in _parents(path)}
    named = [path for path in changed if path not in parents and not _NOT_OF_THE_PROGRAM.search(path)]
    wanted = sorted(path for path in named if _MODEL.search(path))
    others = sorted(path for path in named if not _MODEL.search(path) and not _PASSING.search(path))
    return _files(symptoms.archive, wanted) or _files(symptoms.archive, others)


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    first, last = ", ".join(names[:-1]), names[-1]
    return f"{first} and {last}" if first else last


def _parents(path: str) -> Iterator[str]:
    while path != (path := os.path.dirname(path)):
        yield path


def _files(archive: Archive, paths: Sequence[str]) -> list[str]:
    """The paths that are files, not folders or removed."""
    return list(islice((path for path in paths[:_LOOKED_AT] if _content(archive, path, most=1) is not None), _SHOWN))


def _content(archive: Archive, path: str, *, most: int) -> bytes | None:
    """The beginning of a file; None if it is missing or not a file."""
    try:
        with closing(archive(path)) as pieces:
            stream = ByteStream(pieces)
            first = next(tar_entries(stream), None)
            return stream.exactly(min(first.size, most)) if first is not None and first.kind == "file" else None
    except (EngineError, ArchiveError, OSError):
        return None


_NO_MODULE = re.compile(r"(?:ModuleNotFoundError: |ImportError: |^\S*python[\d.]*: )No module named ['\"]?([\w.-]+)")
_SOURCE = re.compile(r"^ *File \"(/.+)/[^/]+\", line \d")
_PACKAGES = {
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "pil": "pillow",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Packages that are not named like their module."""
_REQUIREMENTS = "requirements.txt"
_LARGEST = 1 << 16
_USUAL = ("/opt/program", "/opt/ml/code", "/opt/ml/input/data/code", "/opt/ml/processing/input/code")


def missing_module(plan: JobPlan, host: HostPlan, symptoms: Symptoms, last: Iterable[str]) -> str | None:
    """A hint about a missing module, with the container's requirements.txt.

    `last`: the lines that may say why the program ended, from the last one up.
    """
    name = next((found[1] for line in last if (found := _NO_MODULE.search(line))), None)
    if name is None:
        return None
    top = name.partition(".")[0]
    package = _PACKAGES.get(top.lower(), top)
    own = "or COPY the module if it is your own code"
    lacks = f"The Python that ran in the container has no module {name}"
    for folder in list(dict.fromkeys(_folders(plan, host, symptoms.log)))[:_LOOKED_AT]:
        path = f"{folder.rstrip('/')}/{_REQUIREMENTS}"
        text = _content(symptoms.archive, path, most=_LARGEST)
        if text is not None and _names(text.decode("utf-8", "replace"), package):
            return f"{lacks}, but {path} lists it: install that file in the Dockerfile (RUN pip install -r {path})."
        if text is not None:
            return f"{lacks}, and {path} does not list it: add {package} there, {own}."
    return f"{lacks}: install it in the Dockerfile (RUN pip install {package}), {own}."


def hint_of_server(plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:
    """About a container that was to answer requests; None if nothing is known."""
    if symptoms.trouble is not Trouble.FAILED:
        return None
    return missing_module(plan, host, symptoms, (line for _, line in last_lines(symptoms.log.splitlines())))


def _folders(plan: JobPlan, host: HostPlan, log: str) -> Iterator[str]:
    """Folders that may have requirements.txt: the program's, and usual ones."""
    written = [found[1] for line in reversed(log.splitlines()) if (found := _SOURCE.search(line))]
    yield from (each for each in written if not _NOT_OF_THE_PROGRAM.search(f"{each}/"))
    program = host.program or plan.image
    facts = program.facts
    words = [*(program.entrypoint or (facts and facts.entrypoint) or ()), *(program.command or ())]
    yield from (
        os.path.dirname(word) for word in words if word.startswith("/") and not word.startswith(("/bin", "/usr"))
    )
    if facts is not None and facts.working_directory:
        yield facts.working_directory
    yield from _USUAL


def _names(requirements: str, package: str) -> bool:
    plain = re.escape(package.lower()).replace("_", "[-_.]").replace(r"\-", "[-_.]")
    return re.search(rf"^\s*{plain}(?![\w.-])", requirements.lower(), re.MULTILINE) is not None

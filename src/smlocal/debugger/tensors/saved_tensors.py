"""What the debugger's library has saved: the index of tensors, with their steps and files, and their values."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.debugger.tensors.event import read_tensor
from smlocal.debugger.tensors.tensor import Tensor
from smlocal.debugger.tensors.tensor_files import Damage, DamagedError, mapped, read_regular_file

_INDEX, _COLLECTIONS = "index", "collections"
_END = "training_job_end.ts"
_INDEX_NAME = re.compile(r"(\d{1,18})_(.+)\.json")
_COLLECTIONS_NAME = re.compile(r".*_?collections\.json")


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedTensor:
    """A tensor of one step, as one worker has saved it."""

    name: str
    step: int
    """Counted over all modes."""
    mode: str
    """`TRAIN`, `EVAL`, `PREDICT`, or `GLOBAL` if the script has not set one."""
    mode_step: int
    worker: str
    file: str
    """Below the folder with the tensors."""
    start: int
    length: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedTensors:
    """What a folder has."""

    tensors: Sequence[SavedTensor]
    """By step and worker, then as they were written."""
    damaged: Sequence[Damage]


def saved_tensors(folder: str) -> SavedTensors:
    """Read all index files. A job may still write more; until its end, files that are not there yet are left out."""
    over = os.path.lexists(f"{folder}/{_END}")
    found: list[SavedTensor] = []
    damaged: list[Damage] = []
    for path in sorted(_files(folder, _INDEX, _INDEX_NAME), key=os.path.basename):
        try:
            tensors = [*_read_index(folder, path)]
            if tensors and (over or os.path.lexists(f"{folder}/{tensors[0].file}")):
                found += tensors
        except DamagedError as error:
            damaged.append(Damage(file=path, offset=error.offset, problem=error.problem))
    return SavedTensors(tensors=found, damaged=damaged)


def collections_of(folder: str) -> dict[str, frozenset[str]]:
    """The names of the tensors of each collection. What cannot be read is left out."""
    found: dict[str, frozenset[str]] = {}
    for path in _files(folder, _COLLECTIONS, _COLLECTIONS_NAME):
        try:
            collections = _document(folder, path).get("collections")
        except DamagedError:
            continue
        for name, about in collections.items() if isinstance(collections, dict) else ():
            names = about.get("tensor_names") if isinstance(about, dict) else None
            if isinstance(names, list):
                found[name] = found.get(name, frozenset()) | {each for each in names if isinstance(each, str)}
    return found


def _files(folder: str, below: str, named: re.Pattern[str]) -> Iterator[str]:
    for directory, _, names in os.walk(f"{folder}/{below}"):
        yield from (os.path.relpath(f"{directory}/{name}", folder) for name in names if named.fullmatch(name))


def _read_index(folder: str, path: str) -> Iterator[SavedTensor]:
    document = _document(folder, path)
    named = _INDEX_NAME.fullmatch(os.path.basename(path))
    try:
        meta, payload = document["meta"], document["tensor_payload"]
        if not payload or named is None:
            return  # shapes alone
        file = os.path.normpath(meta["event_file_name"])
        if os.path.isabs(file) or file.startswith(".."):
            raise DamagedError(0, f"it names a file outside of the folder: {file}")
        for each in payload:
            yield SavedTensor(
                name=str(each["tensorname"]),
                step=int(named[1]),
                mode=str(meta["mode"]),
                mode_step=int(meta["mode_step"]),
                worker=_worker(named[2]),
                file=file,
                start=int(each["start_idx"]),
                length=int(each["length"]),
            )
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(0, f"it is not an index: {error!r}") from None


def _worker(name: str) -> str:
    """A device of TensorFlow as `/replica:0/task:0/device:GPU:0`; other workers as they are."""
    return name.replace("_", "/").replace("-", ":") if name.startswith("_") else name


def _document(folder: str, path: str) -> dict[str, Any]:
    try:
        document = json.loads(read_regular_file(f"{folder}/{path}"))
    except json.JSONDecodeError as error:
        raise DamagedError(error.pos, f"it is not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise DamagedError(0, "it is not JSON") from None
    if not isinstance(document, dict):
        raise DamagedError(0, "it is not a JSON object")
    return document


def whole_values(
    folder: str, wanted: Iterable[SavedTensor], damaged: list[Damage]
) -> Iterator[tuple[SavedTensor, Tensor]]:
    """Those that can be read. What is wrong with the others is added to `damaged`, once."""
    for saved, value in read_values(folder, wanted):
        if isinstance(value, Tensor):
            yield saved, value
        elif value not in damaged:
            damaged.append(value)


def read_values(folder: str, wanted: Iterable[SavedTensor]) -> Iterator[tuple[SavedTensor, Tensor | Damage]]:
    """The value of each, in the given order. A file is opened once if its tensors follow each other."""
    name, file = "", memoryview(b"")
    for each in wanted:
        try:
            if each.file != name:
                name, file = "", mapped(f"{folder}/{each.file}")
                name = each.file
            found, step, tensor = read_tensor(file, each.start, each.length)
            if (found, step) != (each.name, each.step):
                raise DamagedError(each.start, f"the index has {each.name} of step {each.step:,} here")  # noqa: TRY301 - as the others
        except DamagedError as error:
            yield each, Damage(file=each.file, offset=error.offset, problem=error.problem)
        else:
            yield each, tensor

"""Saved tensors as the document of `smlocal tensors --json`."""

import json
import math
from collections.abc import Sequence
from typing import Any

from smlocal.cli.terminal.printable import json_without_commands
from smlocal.tensors.saved_tensors import SavedTensor, collections_of, whole_values
from smlocal.tensors.tensor import Tensor, statistics_of
from smlocal.tensors.tensor_files import Damage


def tensor_document(folder: str, tensors: Sequence[SavedTensor], damaged: list[Damage], *, stats: bool) -> str:
    """Each tensor with all its steps. Only a single value is written itself."""
    collections = collections_of(folder)
    found: dict[str, list[dict[str, Any]]] = {each.name: [] for each in tensors}
    for saved, value in whole_values(folder, tensors, damaged):
        found[saved.name].append(_step(saved, value, stats=stats))
    document = {
        "Folder": folder,
        "Tensors": [
            {
                "Name": name,
                "Collections": sorted(each for each, names in collections.items() if name in names),
                "Steps": found[name],
            }
            for name in sorted(found)
        ],
        "Damaged": [{"File": each.file, "Offset": each.offset, "Problem": each.problem} for each in damaged],
    }
    return json_without_commands(json.dumps(document, indent=2))


def _step(saved: SavedTensor, tensor: Tensor, *, stats: bool) -> dict[str, Any]:
    step: dict[str, Any] = {
        "Step": saved.step,
        "Mode": saved.mode,
        "ModeStep": saved.mode_step,
        "Worker": saved.worker,
        "Type": tensor.type.name,
        "Shape": tensor.shape,
    }
    if (single := tensor.single) is not None:
        step["Value"] = _json(single)
    of = statistics_of(tensor) if stats else None
    if of is not None:
        step["Statistics"] = {
            "Minimum": _json(of.lowest),
            "Maximum": _json(of.highest),
            "Mean": _json(of.mean),
            "StandardDeviation": _json(of.deviation),
            "Zeros": of.zeros,
            "NaN": of.nans,
            "Infinite": of.infinities,
        }
    return step


def _json(value: float | str | None) -> float | str | None:
    """JSON has no numbers for these."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value

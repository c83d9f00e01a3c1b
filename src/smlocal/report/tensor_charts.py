"""Charts of the losses and scalars that the debugger's hook has saved."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from smlocal.base.formatting import number, short_number
from smlocal.base.readable import counted
from smlocal.debugger.tensors.saved_tensors import SavedTensor, collections_of, saved_tensors, whole_values
from smlocal.debugger.tensors.tensor import Damage
from smlocal.jobs.page_parts import Chart, Line
from smlocal.report.charts import downsample

_COLLECTIONS = ("losses", "metrics", "sm_metrics")
_SCALAR = "scalar/"
"""The prefix that `hook.save_scalar` puts before names."""
_MOST = 24
"""Charts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorCharts:
    """The charts, and further remarks."""

    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True, slots=True)
class _Curve:
    """The values of one name by mode and worker."""

    lines: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)
    last: float = math.nan
    count: int = 0


def tensor_charts(folder: str) -> TensorCharts:
    """The charts of a folder with tensors. Their horizontal axis is the step, counted over all modes."""
    collections = collections_of(folder)
    names = frozenset[str]().union(*(collections.get(each, ()) for each in _COLLECTIONS))
    found = saved_tensors(folder)
    damaged = [*found.damaged]
    wanted = [each for each in found.tensors if each.name in names or each.name.startswith(_SCALAR)]
    curves = _curves(folder, wanted, damaged)
    notes = []
    if len(curves) > _MOST:
        notes.append(f"{len(curves) - _MOST:,} more curves are left out.")
    if damaged:
        notes.append(f"{counted(len({each.file for each in damaged}), 'file')} of tensors cannot be read.")
    return TensorCharts(charts=tuple(_chart(name, curves[name]) for name in sorted(curves)[:_MOST]), notes=tuple(notes))


def _curves(folder: str, wanted: Sequence[SavedTensor], damaged: list[Damage]) -> dict[str, _Curve]:
    curves: dict[str, _Curve] = {}
    for saved, tensor in whole_values(folder, wanted, damaged):
        value = tensor.single
        if value is None or isinstance(value, str):
            continue  # a loss of each sample, perhaps
        curve = curves.setdefault(saved.name, _Curve())
        curve.last = float(value)
        curve.count += 1
        line = curve.lines.setdefault((saved.mode, saved.worker), [])
        if math.isfinite(value):
            line.append((float(saved.step), float(value)))
    return curves


def _chart(name: str, curve: _Curve) -> Chart:
    points = [point for line in curve.lines.values() for point in line]
    steps, values = [x for x, _ in points] or [0.0], [y for _, y in points] or [0.0]
    x_range, low, high = (min(steps), max(steps)), min(values), max(values)
    detail = counted(curve.count, "value")
    if points:
        detail += f", {number(low)} to {number(high)}"
    if missing := curve.count - len(points):
        detail += f", {missing:,} not finite"
    workers = len({worker for _, worker in curve.lines}) > 1
    return Chart(
        title=name,
        value=number(curve.last),
        detail=detail,
        lines=[
            Line(
                label=f"{mode.lower()} {worker}" if workers else mode.lower(),
                value=number(line[-1][1]) if line else "",
                points=downsample(line, x_range),
            )
            for (mode, worker), line in sorted(curve.lines.items())
        ],
        x_range=x_range,
        x_labels=(f"step {x_range[0]:,.0f}", f"step {x_range[1]:,.0f}" if x_range[1] > x_range[0] else ""),
        y_range=(low, high),
        y_labels=(short_number(low), short_number(high)),
    )

"""Charts that only some jobs have: results of a tuning job, and losses and scalars that the hook has saved."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from smlocal.debugger.tensors.saved_tensors import SavedTensor, collections_of, saved_tensors, whole_values
from smlocal.debugger.tensors.tensor import Damage
from smlocal.jobs.store.jobs import Store
from smlocal.report.charts import XY, Chart, Line, downsample
from smlocal.report.formatting import axis_duration, counted, duration, number, short_number
from smlocal.sagemaker.tuning.state import read_trials
from smlocal.sagemaker.tuning.trials import Objective, Trial

_MOST_CHARTS = 12
_MOST_ROWS = 100
_DEFINITION = "Definition"
_MOST_TEXT = 24
"""Characters of a category at an axis."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """One axis of the parallel coordinates."""

    name: str
    low: str
    high: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialRow:
    """A training job in the table."""

    name: str
    status: str
    cells: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """The table in the order of one column."""

    column: str
    rows: tuple[TrialRow, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningCharts:
    """What is drawn of a tuning job."""

    charts: tuple[Chart, ...]
    axes: tuple[Axis, ...]
    paths: tuple[tuple[str, ...], ...]
    """For each training job with a value, the worst first: its points on the axes, from 0 to 1."""
    columns: tuple[str, ...]
    orders: tuple[Order, ...]
    left_out: int
    """Training jobs that the table does not show."""


def tuning_charts(store: Store, name: str, answer: Mapping[str, Any], began: float) -> TuningCharts:
    """Read the trials of a tuning job, ended or running."""
    given = _objective(answer)
    definitions = [each["DefinitionName"] for each in answer.get("TrainingJobDefinitions") or ()]
    trials = read_trials(store, name)
    valued = [each for each in trials if each.value is not None]
    names = list(dict.fromkeys(key for each in trials for key in each.tuned))
    charts = [_best_curve(valued, given, began)] if valued else []
    charts += [_scatter(valued, given, key) for key in names[:_MOST_CHARTS] if valued]
    scales = {key: _Scale.of([each.tuned[key] for each in valued if key in each.tuned]) for key in names}
    axes = [Axis(name=key, low=scale.low, high=scale.high) for key, scale in scales.items()] if valued else []
    return TuningCharts(
        charts=tuple(charts),
        axes=(*axes, *([_objective_axis(valued, given)] if valued else [])),
        paths=tuple(_path(each, scales, valued) for each in sorted(valued, key=lambda t: -_cost(t, given))),
        columns=("Training job", "Status", given.metric, *([_DEFINITION] if definitions else []), *names, "Trained"),
        orders=tuple(_orders(trials, given, names, definitions)),
        left_out=max(0, len(trials) - _MOST_ROWS),
    )


def _objective(answer: Mapping[str, Any]) -> Objective:
    config = answer["HyperParameterTuningJobConfig"]
    definitions = answer.get("TrainingJobDefinitions") or [answer.get("TrainingJobDefinition") or {}]
    found = [each.get("TuningObjective") or config["HyperParameterTuningJobObjective"] for each in definitions]
    names = {each["MetricName"] for each in found}
    return Objective(metric=names.pop() if len(names) == 1 else "objective", direction=found[0]["Type"])


def _cost(trial: Trial, objective: Objective) -> float:
    return math.inf if trial.value is None else objective.cost(trial.value)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scale:
    """Where values of a hyperparameter are on an axis: numbers by size, categories in their order."""

    low: str
    high: str
    place: Callable[[str], float]

    @classmethod
    def of(cls, values: Sequence[str]) -> "_Scale":
        """For these values."""
        try:
            numbers = [float(value) for value in values]
        except ValueError:
            numbers = []
        if not numbers:
            words = sorted(set(values))
            last = max(1, len(words) - 1)
            shown = [word[:_MOST_TEXT] for word in words] or [""]
            return cls(low=shown[0], high=shown[-1], place=lambda value: words.index(value) / last)
        low, high = min(numbers), max(numbers)
        log = low > 0 and high / low >= 1000  # noqa: PLR2004 - three decades
        begin, end = (math.log(low), math.log(high)) if log else (low, high)

        def place(value: str) -> float:
            found = math.log(float(value)) if log else float(value)
            return (found - begin) / (end - begin) if end > begin else 0.5

        return cls(low=short_number(low), high=short_number(high), place=place)


def _best_curve(valued: Sequence[Trial], objective: Objective, began: float) -> Chart:
    ended = sorted(valued, key=lambda each: each.ended or began)
    points: list[XY] = []
    best = ended[0]
    for each in ended:
        at = (each.ended or began) - began
        if points:
            points.append((at, points[-1][1]))  # a step
        if _cost(each, objective) <= _cost(best, objective):
            best = each
        points.append((at, best.value or 0.0))
    values = [each.value or 0.0 for each in ended]
    last = max(points[-1][0], 0.0)
    return Chart(
        title=f"Best {objective.metric}",
        value=number(best.value or 0.0),
        detail=f"{counted(len(valued), 'training job')}, the best is {best.name}",
        lines=[
            Line(label="best so far", value="", points=points),
            Line(
                label="each training job",
                value="",
                points=[((each.ended or began) - began, each.value or 0.0) for each in ended],
                dots=True,
            ),
        ],
        x_range=(0.0, last),
        x_labels=("0 s", axis_duration(last)),
        y_range=(min(values), max(values)),
        y_labels=(short_number(min(values)), short_number(max(values))),
    )


def _scatter(valued: Sequence[Trial], objective: Objective, name: str) -> Chart:
    having = [each for each in valued if name in each.tuned]
    scale = _Scale.of([each.tuned[name] for each in having])
    values = [each.value or 0.0 for each in having]
    best = min(having, key=lambda each: _cost(each, objective))
    points = [(scale.place(each.tuned[name]), each.value or 0.0) for each in having]
    return Chart(
        title=name,
        value=_short(best.tuned[name])[:_MOST_TEXT],
        detail=f"{objective.metric} against {name}; beside the name that of the best",
        lines=[Line(label="", value="", points=points, dots=True)],
        x_range=(0.0, 1.0),
        x_labels=(scale.low, scale.high),
        y_range=(min(values), max(values)),
        y_labels=(short_number(min(values)), short_number(max(values))),
    )


def _objective_axis(valued: Sequence[Trial], objective: Objective) -> Axis:
    values = [each.value or 0.0 for each in valued]
    return Axis(name=objective.metric, low=short_number(min(values)), high=short_number(max(values)))


def _path(trial: Trial, scales: Mapping[str, _Scale], valued: Sequence[Trial]) -> tuple[str, ...]:
    values = [each.value or 0.0 for each in valued]
    low, high = min(values), max(values)
    heights = [scale.place(trial.tuned[key]) if key in trial.tuned else 0.5 for key, scale in scales.items()]
    heights.append(((trial.value or 0.0) - low) / (high - low) if high > low else 0.5)
    width = 600 / max(1, len(heights) - 1)
    return tuple(f"{index * width:.1f},{119.5 - 119 * height:.1f}" for index, height in enumerate(heights))


def _orders(
    trials: Sequence[Trial], objective: Objective, names: Sequence[str], definitions: Sequence[str]
) -> list[Order]:
    """The best first, then by each column."""

    def value_of(key: str) -> Callable[[Trial], tuple[int, float, str]]:
        def order(trial: Trial) -> tuple[int, float, str]:
            text = trial.tuned.get(key, "")
            try:
                return (0, float(text), text)
            except ValueError:
                return (1, 0.0, text)

        return order

    keys: list[tuple[str, Callable[[Trial], Any]]] = [
        (objective.metric, lambda trial: (_cost(trial, objective), trial.number)),
        ("Training job", lambda trial: trial.number),
        *([(_DEFINITION, lambda trial: (definitions[trial.definition], trial.number))] if definitions else []),
        ("Status", lambda trial: (trial.status, trial.number)),
        *((key, value_of(key)) for key in names),
    ]
    return [
        Order(
            column=column, rows=tuple(_row(each, names, definitions) for each in sorted(trials, key=key)[:_MOST_ROWS])
        )
        for column, key in keys[:8]
    ]


def _row(trial: Trial, names: Sequence[str], definitions: Sequence[str]) -> TrialRow:
    value = "" if trial.value is None else number(trial.value)
    took = "" if trial.started is None or trial.ended is None else duration(trial.ended - trial.started)
    tuned = [trial.tuned.get(name, "") for name in names]
    status = f"{trial.status}, early" if trial.early else trial.status
    definition = [definitions[trial.definition]] if definitions else []
    cells = (trial.name, status, value, *definition, *map(_short, tuned), took)
    return TrialRow(name=trial.name, status=trial.status, cells=cells)


def _short(text: str) -> str:
    try:
        return text if len(text) <= 10 else number(float(text))  # noqa: PLR2004 - as it is written, if it is short
    except ValueError:
        return text


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

"""Training jobs on the page of a tuning job: curves, points, a table and bars."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from smlocal.base.formatting import duration, short_number
from smlocal.base.readable import counted
from smlocal.jobs.page_parts import XY, Cell, Chart, Charts, Line, PageParts, PageSection, Parallel, Table, time_axis
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.view import Bar, JobView, Span
from smlocal.sagemaker.tuning.ranges import Range, ranges_of
from smlocal.sagemaker.tuning.showing import counted as spoken_counters
from smlocal.sagemaker.tuning.state import read_trials
from smlocal.sagemaker.tuning.trials import Objective, Trial

_MOST_CHARTS: Final = 12
_MOST_BARS: Final = 100
_MOST_TEXT: Final = 24
"""Characters of a category at an axis."""
_SCALES: Final = {"Logarithmic": "logarithmic", "ReverseLogarithmic": "reverse logarithmic"}


def page_parts(store: Store, view: JobView) -> PageParts:
    """Read the trials of a tuning job, ended or running."""
    answer, trials = view.answer, read_trials(store, view.name)
    about = PageParts(details=tuple(_details(answer)))
    if not trials:
        return about
    objective = objective_of(answer)
    axes = _axes(answer, trials)
    valued = [each for each in trials if _counts(each)]
    blocks = (*(_drawings(valued, objective, axes, view.began) if valued else ()), _table(trials, objective, answer))
    return replace(
        about,
        sections=(PageSection(title="Training jobs", blocks=blocks),),
        bars=tuple(_bar(each, view.name) for each in trials[:_MOST_BARS] if each.started or each.created),
        more_bars=counted(len(trials) - _MOST_BARS, "more training job") if len(trials) > _MOST_BARS else "",
    )


def _details(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The search's settings and result."""
    config = answer["HyperParameterTuningJobConfig"]
    most = config["ResourceLimits"].get("MaxNumberOfTrainingJobs")
    yield "Strategy", config["Strategy"]
    yield "Training jobs", spoken_counters(answer["TrainingJobStatusCounters"])
    limits = f"{config['ResourceLimits']['MaxParallelTrainingJobs']:,} at once"
    yield "Limits", limits if most is None else f"{most:,} training jobs, {limits}"
    best = answer.get("BestTrainingJob")
    if best is not None:
        objective = best["FinalHyperParameterTuningJobObjectiveMetric"]
        yield "Best", f"{best['TrainingJobName']}, {objective['MetricName']} {short_number(objective['Value'])}"
    if answer.get("FailureReason") is None and (because := answer["Local"].get("EndedBecause")):
        yield "Ended", because
    images = [(each.get("AlgorithmSpecification") or {}).get("TrainingImage") for each in _definitions(answer)]
    yield from (("Image", image) for image in dict.fromkeys(images) if image)
    yield "ARN", answer["HyperParameterTuningJobArn"]


def _definitions(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Of its training jobs, one or several."""
    return answer.get("TrainingJobDefinitions") or [answer.get("TrainingJobDefinition") or {}]


def objective_of(answer: Mapping[str, Any]) -> Objective:
    """The search's objective; named `objective` if definitions have different metrics."""
    config = answer["HyperParameterTuningJobConfig"]
    usual = "HyperParameterTuningJobObjective"
    found = [each.get("TuningObjective") or config[usual] for each in _definitions(answer)]
    names = {each["MetricName"] for each in found}
    return Objective(metric=names.pop() if len(names) == 1 else "objective", direction=found[0]["Type"])


def _axes(answer: Mapping[str, Any], trials: Sequence[Trial]) -> dict[str, Range]:
    """The range of each tuned hyperparameter, which gives its axis the scale."""
    config = answer["HyperParameterTuningJobConfig"]
    given = [config.get("ParameterRanges")]
    given += [each.get("HyperParameterRanges") for each in answer.get("TrainingJobDefinitions") or ()]
    known: dict[str, list[Range]] = {}
    for each in [each for ranges in given for each in ranges_of(ranges)]:
        known.setdefault(each.name, []).append(each)
    names = dict.fromkeys(name for trial in trials for name in trial.tuned)
    return {name: _axis(name, known.get(name, ()), trials) for name in names}


def _axis(name: str, ranges: Sequence[Range], trials: Sequence[Trial]) -> Range:
    """A range around all ranges of this name; around all trials if the scales differ."""
    if len({(each.kind, each.scaling) for each in ranges}) != 1:
        return _range_of(name, trials)
    return replace(
        ranges[0],
        low=min(each.low for each in ranges),
        high=max(each.high for each in ranges),
        values=tuple(dict.fromkeys(value for each in ranges for value in each.values)),
    )


def _range_of(name: str, trials: Sequence[Trial]) -> Range:
    """A range around all tried values."""
    values = [each.tuned[name] for each in trials if name in each.tuned]
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return Range(name=name, kind="Categorical", values=tuple(sorted(set(values))))
    return Range(name=name, kind="Continuous", low=min(numbers), high=max(numbers))


def _ends(axis: Range) -> tuple[str, str]:
    if axis.kind == "Categorical":
        return axis.values[0][:_MOST_TEXT], axis.values[-1][:_MOST_TEXT]
    return short_number(axis.low), short_number(axis.high)


def _counts(trial: Trial) -> bool:
    """True if it can be the best. A failed job never is."""
    return trial.value is not None and trial.status != "Failed"


def _cost(trial: Trial, objective: Objective) -> float:
    return objective.cost(trial.value) if trial.value is not None and _counts(trial) else math.inf


def _drawings(
    valued: Sequence[Trial], objective: Objective, axes: Mapping[str, Range], began: float
) -> Iterator[Charts | Parallel]:
    best = min(valued, key=lambda each: _cost(each, objective))
    scatters = [_scatter(valued, best, objective, axis) for axis in list(axes.values())[:_MOST_CHARTS]]
    yield Charts(charts=(_best_curve(valued, best, objective, began), *scatters))
    if not axes:
        return
    values = [each.value or 0.0 for each in valued]
    low, high = min(values), max(values)
    scale = Range(name=objective.metric, kind="Continuous", low=low, high=high, scaling="Linear")
    worst_first = sorted(valued, key=lambda each: -_cost(each, objective))
    yield Parallel(
        title="Hyperparameters together",
        detail="a line for each training job; the best one is marked",
        axes=tuple((_axis_name(each), *_ends(each)) for each in (*axes.values(), scale)),
        paths=tuple(
            (
                *(axis.share_of(each.tuned[name]) if name in each.tuned else 0.5 for name, axis in axes.items()),
                scale.share_of(str(each.value or 0.0)),
            )
            for each in worst_first
        ),
    )


def _axis_name(axis: Range) -> str:
    word = "" if axis.kind == "Categorical" else _SCALES.get(axis.scale, "")
    return f"{axis.name} ({word})" if word else axis.name


def _best_curve(valued: Sequence[Trial], best: Trial, objective: Objective, began: float) -> Chart:
    ended = sorted(valued, key=lambda each: each.ended or began)
    points: list[XY] = []
    leading = ended[0]
    for each in ended:
        at = (each.ended or began) - began
        if points:
            points.append((at, points[-1][1]))  # a step
        if _cost(each, objective) <= _cost(leading, objective):
            leading = each
        points.append((at, leading.value or 0.0))
    last = max(points[-1][0], 0.0)
    return Chart(
        title=f"Best {objective.metric}",
        value=short_number(best.value or 0.0),
        detail=f"{counted(len(valued), 'training job')}, the best is {best.name}",
        lines=[
            *_dots([((each.ended or began) - began, each) for each in ended], best),
            Line(label="best so far", value="", points=points),
        ],
        **time_axis(last),
        **_objective_axis(valued),
    )


def _scatter(valued: Sequence[Trial], best: Trial, objective: Objective, axis: Range) -> Chart:
    having = [each for each in valued if axis.name in each.tuned]
    low, high = _ends(axis)
    return Chart(
        title=axis.name,
        value=_shown(best.tuned.get(axis.name, ""))[:_MOST_TEXT],
        detail=f"at the best {objective.metric}",
        lines=_dots([(axis.share_of(each.tuned[axis.name]), each) for each in having], best, labels=("", "")),
        x_range=(0.0, 1.0),
        x_labels=(low, high),
        x_name=_axis_name(axis),
        y_name=objective.metric,
        **_objective_axis(valued),
    )


def _dots(
    placed: Sequence[tuple[float, Trial]], best: Trial, *, labels: tuple[str, str] = ("each training job", "the best")
) -> list[Line]:
    points = [(x, each.value or 0.0) for x, each in placed]
    marked = [(x, each.value or 0.0) for x, each in placed if each is best]
    return [
        Line(label=labels[0], value="", points=points, dots=True),
        *([Line(label=labels[1], value="", points=marked, dots=True, marked=True)] if marked else []),
    ]


def _objective_axis(valued: Sequence[Trial]) -> dict[str, Any]:
    values = [each.value or 0.0 for each in valued]
    low, high = min(values), max(values)
    return {"y_range": (low, high), "y_labels": (short_number(low), short_number(high))}


def _table(trials: Sequence[Trial], objective: Objective, answer: Mapping[str, Any]) -> Table:
    """The best first."""
    definitions = [each["DefinitionName"] for each in answer.get("TrainingJobDefinitions") or ()]
    names = list(dict.fromkeys(key for each in trials for key in each.tuned))
    columns = ("Training job", "Status", objective.metric, *(["Definition"] if definitions else []), *names, "Trained")
    rows = tuple(tuple(_cells(each, objective, names, definitions)) for each in trials)
    first = 4 if definitions else 3
    texts = {index for row in rows for index, cell in enumerate(row) if index >= first and cell.order[0] == 1}
    numbers = frozenset({2, *range(first, len(columns))} - texts)
    return Table(columns=columns, rows=rows, numbers=numbers, by=2, more="training job")


def _cells(trial: Trial, objective: Objective, names: Sequence[str], definitions: Sequence[str]) -> Iterator[Cell]:
    yield Cell(text=trial.name, key=trial.number, job=trial.name)
    yield Cell(text=f"{trial.status}, early" if trial.early else trial.status, status=trial.status)
    value = "" if trial.value is None else short_number(trial.value)
    whole = "" if trial.value is None else str(trial.value)
    yield Cell(text=value, key=(_cost(trial, objective), trial.number), whole=whole if whole != value else "")
    if definitions:
        yield Cell(text=definitions[trial.definition])
    for name in names:
        text = trial.tuned.get(name, "")
        yield Cell(text=_shown(text), key=_order(text), whole=text if text != _shown(text) else "")
    took = None if trial.started is None or trial.ended is None else trial.ended - trial.started
    yield Cell(text="" if took is None else duration(took), key=(0, math.inf if took is None else took, ""))


def _order(text: str) -> tuple[int, float, str]:
    """Numbers by size, then texts. A missing value is the last number."""
    if not text:
        return (0, math.inf, "")
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)


def _shown(text: str) -> str:
    """A value of a hyperparameter: whole numbers as they are, others with four digits."""
    try:
        return text if text.lstrip("-").isdecimal() else short_number(float(text))
    except ValueError:
        return text


def _bar(trial: Trial, search: str) -> Bar:
    value = "" if trial.value is None else f", {short_number(trial.value)}"
    began = trial.started or trial.created or 0.0
    span = Span(began=began, ended=trial.ended, text=f"{trial.status}{value}", good=trial.status != "Failed")
    return Bar(name=trial.name.removeprefix(f"{search}-"), spans=(span,), short=True)

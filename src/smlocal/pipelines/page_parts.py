"""The page of an execution: the graph, the table of its steps, their values, and a bar for each."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.base.formatting import duration, utc
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import counted, in_one_line
from smlocal.errors import JobUnknownError, RequestInvalidError
from smlocal.jobs.documents import JOB
from smlocal.jobs.page_parts import Block, Cell, CommandLines, PageParts, PageSection, Sentences, Table
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.view import Bar, JobView, Span
from smlocal.pipelines.job_file import PipelineFile, recorded_file
from smlocal.pipelines.known_values import parameter_values
from smlocal.pipelines.page_graph import ENDED, MOST_BOXES, RUNNING, ShownStep, graph_of
from smlocal.pipelines.page_values import changed_value, cut, values_blocks
from smlocal.sagemaker.pipelines.cache import NOT_CACHED, NOT_ENABLED
from smlocal.sagemaker.pipelines.deciding import Execution, State
from smlocal.sagemaker.pipelines.stored import STATE, StoredStep, read_steps

_MOST_ROWS: Final = 500
_MOST_BARS: Final = 100
_MOST_CHANGES: Final = 4
"""Keys of a step that differ from the last run."""
_WITH_PAGES: Final = frozenset({"Training", "Processing", "Transform", "Tuning", "Endpoint"})
"""Types of steps that make jobs."""
_COLUMNS: Final = ("Step", "State", "Began after", "Took", "About", "Cache", "Job")
_WAITS: Final = "Waits for an answer"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Run:
    """An execution as it is stored."""

    store: Store
    file: PipelineFile
    execution: Execution
    records: Mapping[str, StoredStep]
    shown: Mapping[str, ShownStep]
    """Each step, those that have begun first."""
    began: float

    @property
    def selected(self) -> list[str] | None:
        return _selected(self.file)


def page_parts(store: Store, view: JobView) -> PageParts:
    """Read the steps of an execution, ended or running."""
    try:
        file = recorded_file(store.document(view.name, JOB))
    except RequestInvalidError as error:  # recorded by a version with other rules
        said = Sentences(texts=(f"The definition cannot be read any more: {error}.", *error.details))
        return PageParts(details=view.details, sections=(PageSection(title="Steps", blocks=(said,)),))
    run = _read(store, view, file)
    rows = {name: f"step-{number}" for number, name in enumerate(_in_rows(run)) if number < _MOST_ROWS}
    graph = graph_of(run.execution, run.shown, rows)
    table: list[Block] = [_table(run, tuple(rows.values()))]
    if graph is None and len(run.shown) > MOST_BOXES:
        table.insert(0, Sentences(texts=("The graph is too large to be drawn.",)))
    answers = tuple(_answers(run))
    begun = [each for each in run.shown.values() if each.has_begun]
    return PageParts(
        details=tuple(_details(run, view)),
        sections=(
            PageSection(title=_WAITS, blocks=(CommandLines(rows=answers),) if answers else (), leading=True),
            PageSection(title="Graph", blocks=() if graph is None else (graph,), leading=True),
            PageSection(title="Steps", blocks=tuple(table)),
            PageSection(title="Values that flowed", blocks=tuple(_values(run))),
        ),
        bars=tuple(_bar(each) for each in begun[:_MOST_BARS]),
        more_bars=counted(len(begun) - _MOST_BARS, "more step") if len(begun) > _MOST_BARS else "",
    )


def _read(store: Store, view: JobView, file: PipelineFile) -> _Run:
    state: Mapping[str, Any] = store.document(view.name, STATE) or {}
    records = read_steps(store, view.name)
    last = view.created + view.seconds
    over = last if view.status.terminal else None
    execution = _execution(file, records, state, last)
    found = {
        name: ShownStep(step=execution.steps[name], progress=progress, created=view.created, over=over)
        for name, progress in execution.progress.items()
    }
    begun = sorted((each for each in found.values() if each.has_begun), key=lambda each: each.progress.number)
    shown = {each.name: each for each in begun} | found
    return _Run(store=store, file=file, execution=execution, records=records, shown=shown, began=view.began)


def _execution(
    file: PipelineFile, records: Mapping[str, StoredStep], state: Mapping[str, Any], now: float
) -> Execution:
    """As its leader has it: with the steps that have not begun."""
    kept = {name: step.progress for name, step in records.items()}
    execution = Execution(file.definition, kept=kept, selected=_selected(file))
    for name, items in state.get("Items", {}).items():
        if execution.progress[name].state in RUNNING:
            execution.expanded(name, items, now)
    if state.get("Stopping"):
        execution.stop(now, again=True)
    return execution


def _selected(file: PipelineFile) -> list[str] | None:
    config = file.start.get("SelectiveExecutionConfig")
    return None if config is None else [each["StepName"] for each in config["SelectedSteps"]]


def _details(run: _Run, view: JobView) -> Iterator[tuple[str, str]]:
    answer, start = view.answer, run.file.start
    yield "Pipeline", run.file.pipeline
    counts = Counter(each.state.value if each.status else "" for each in run.shown.values())
    parts = [f"{counts[state.value]:,} {state.value.lower()}" for state in State if counts[state.value]]
    waiting = counts[""]
    if waiting:
        parts.append(f"{waiting:,} {'left out' if view.status.terminal else 'not begun'}")
    yield "Steps", ", ".join(parts)
    cached = sum(each.progress.cached is not None for each in run.shown.values())
    if cached:
        yield "From the cache", counted(cached, "step")
    parallel = (start.get("ParallelismConfiguration") or {}).get("MaxParallelExecutionSteps")
    if parallel:
        yield "At once", f"{parallel} at most"
    for title, member in (("Display name", "DisplayName"), ("Description", "Description")):
        text = answer.get(f"PipelineExecution{member}")
        if text:
            yield title, text
    if run.selected is not None:
        yield "Selected", ", ".join(run.selected)
    source = (start.get("SelectiveExecutionConfig") or {}).get("SourcePipelineExecutionArn")
    if source:
        yield "Results of", source
    yield "ARN", answer["PipelineExecutionArn"]


def _answers(run: _Run) -> Iterator[tuple[str, str]]:
    """The commands that answer the steps that wait."""
    for name, stored in run.records.items():
        if stored.waits is not None and stored.progress.ended is None and run.shown[name].over is None:
            token = stored.waits["Token"]
            outputs = "".join(f" --output {each['Name']}=VALUE" for each in stored.waits.get("Outputs", ()))
            yield f"{name} succeeds", f"smlocal pipeline succeed {token}{outputs}"
            yield f"{name} fails", f"smlocal pipeline fail {token} --reason TEXT"


# The table.


def _in_rows(run: _Run) -> Sequence[str]:
    """The steps in their order; those that failed or run first, if there are too many."""
    names = list(run.shown)
    if len(names) > _MOST_ROWS:
        names.sort(key=lambda name: run.shown[name].status in {"", "Completed"})
    return names


def _table(run: _Run, ids: tuple[str, ...]) -> Table:
    rows = [tuple(_cells(run.shown[name], run)) for name in _in_rows(run)]
    used = [at for at in range(len(_COLUMNS)) if any(row[at].text or row[at].below for row in rows)]
    return Table(
        columns=tuple(_COLUMNS[at] for at in used),
        rows=tuple(tuple(row[at] for at in used) for row in rows),
        numbers=frozenset(used.index(at) for at in (2, 3) if at in used),
        more="step",
        ids=ids,
        most=_MOST_ROWS,
    )


def _cells(each: ShownStep, run: _Run) -> Iterator[Cell]:
    progress, stored = each.progress, run.records.get(each.name)
    called = each.step.display_name
    about = [each.step.type.name, *([called] if called and called != each.name else [])]
    yield Cell(text=each.name, below=tuple(about))
    attempts = f"{progress.attempts} attempts" if progress.attempts > 1 else ""
    yield Cell(text=each.said, status=each.status, below=(attempts,) if attempts else ())
    began = progress.began if each.has_begun else None
    after = "" if began is None else duration(max(0.0, began - run.began))
    yield Cell(text=after, whole="" if began is None else utc(began))
    yield Cell(text="" if each.seconds is None else duration(each.seconds))
    first, *more = [*_about(each, run, stored), ""]
    yield Cell(text=first, below=tuple(filter(None, more)))
    yield _cache(run, stored)
    job = "" if stored is None else stored.job
    yield Cell(text=job, job=job if each.step.type.name in _WITH_PAGES else "")


def _cache(run: _Run, stored: StoredStep | None) -> Cell:
    cache = (None if stored is None else stored.cache) or {}
    if cache.get("Source"):
        source = str(cache["Source"])
        return Cell(text="hit", job=_job_of(run.store, source), below=(f"result of {source.rpartition('/')[2]}",))
    why = str(cache.get("Why", ""))
    if not why or why.startswith((NOT_CACHED, NOT_ENABLED)):
        return Cell(text="")
    changes = cache.get("Changes") or ()
    lines = [f"{each['Key']}: {_change(each)}" for each in changes[:_MOST_CHANGES]]
    if len(changes) > _MOST_CHANGES:
        lines.append(counted(len(changes) - _MOST_CHANGES, "more change"))
    return Cell(text="missed", below=(why, *lines))


def _change(change: Mapping[str, Any]) -> str:
    before, after = (changed_value(change["Key"], change[each]) for each in ("Before", "After"))
    return f"{before} → {after}"


def _job_of(store: Store, arn: str) -> str:
    """The job that an execution is here, if it is still there."""
    try:
        return store.name_of(arn)
    except JobUnknownError:
        return ""


def _about(each: ShownStep, run: _Run, stored: StoredStep | None) -> Iterator[str]:
    progress = each.progress
    if each.state is State.LEFT_OUT:
        yield _why_left_out(each, run)
    if progress.reason:
        yield cut(in_one_line(progress.reason))
    if progress.outcome is not None:
        yield "The conditions hold." if progress.outcome else "The conditions do not hold."
    if each.status and not each.has_begun and not progress.reused:
        yield "The result from before the retry is used."
    if progress.reused:
        yield f"The result of {progress.reused.rpartition('/')[2]} is used."
    if stored is not None and stored.note:
        yield f"Stand-in: {stored.note}"
    children = run.execution.children(each.name) if each.step.type.name == "ForEach" else ()
    if children:
        states = Counter(run.shown[child].said.partition(" ")[2] for child in children)
        yield f"{counted(len(children), 'item')}: {', '.join(f'{n} {said.lower()}' for said, n in states.items())}"


def _why_left_out(each: ShownStep, run: _Run) -> str:
    step, shown = each.step, run.shown
    if run.selected is not None and each.name not in run.selected:
        return "It is not selected."
    parent = None if step.parent is None else shown.get(step.parent)
    if parent is not None and parent.progress.outcome not in {None, step.branch}:
        return f"{parent.name} is {'true' if parent.progress.outcome else 'false'}."
    waited = [(parent, "Succeeded")] if parent is not None else []
    waited += [(shown[after.step], after.trigger) for after in step.after if after.step in shown]
    for before, trigger in waited:
        if before.state is State.LEFT_OUT:
            return f"{before.name} is left out."
        if before.state in ENDED and trigger not in {before.state.value, "Any"}:
            return f"{before.name} {'was stopped' if before.state is State.STOPPED else before.state.value.lower()}."
    return "The execution ended before."


# Values and bars.


def _values(run: _Run) -> Iterator[Block]:
    given = {each["Name"]: each["Value"] for each in run.file.start.get("PipelineParameters", ())}
    steps = {name: (run.execution.steps[name], run.records[name]) for name in run.shown if name in run.records}
    yield from values_blocks(run.file.definition, parameter_values(run.file), given, steps)


def _bar(each: ShownStep) -> Bar:
    progress = each.progress
    cached = ", from the cache" if progress.cached else ""
    text = f"{each.step.type.name}: {each.said.partition(' ')[2]}{cached}"
    span = Span(began=progress.began or 0.0, ended=each.ended, text=text, good=each.state is not State.FAILED)
    return Bar(name=each.name, spans=(span,), short=True)

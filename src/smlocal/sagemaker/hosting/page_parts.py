"""The page of an endpoint: how to invoke it, variants, requests over time, errors, restarts."""

from collections.abc import Iterator, Mapping

from smlocal.base.formatting import duration, utc
from smlocal.base.readable import counted
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.page_parts import (
    XY,
    Block,
    Cell,
    Chart,
    Charts,
    CommandLines,
    Line,
    PageParts,
    PageSection,
    Table,
    time_axis,
)
from smlocal.jobs.page_parts import FactRows as Facts
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.view import JobView
from smlocal.sagemaker.hosting.showing import containers_of, model_of, variants_of
from smlocal.sagemaker.serving import facts
from smlocal.sagemaker.serving.address import curl_command, invoke_command
from smlocal.sagemaker.serving.invocations import InvocationCounts, Tally, read_invocations

_HALF, _MOST = 0.5, 0.95


def page_parts(store: Store, view: JobView) -> PageParts:
    """From the answer and the counts of invocations."""
    kept = read_invocations(store.directory(view.name))
    return PageParts(
        details=(("ARN", view.answer["EndpointArn"]),),
        sections=(
            PageSection(title="How to invoke it", blocks=tuple(_invoking(store, view)), leading=True),
            PageSection(title="Model", blocks=tuple(_models(view)), leading=True),
            PageSection(title="Requests", blocks=tuple(_requests(view, kept))),
            PageSection(title="Last errors", blocks=(_errors(kept),)),
            PageSection(title="Restarts", blocks=tuple(_restarts(view))),
        ),
    )


def _invoking(store: Store, view: JobView) -> Iterator[Block]:
    address, local = view.local.get("Address"), view.local
    if not address or view.status.terminal:
        return
    name = store.document(view.name, REQUEST).get("EndpointName", view.name)  # an update is a job of another name
    yield CommandLines(
        rows=(
            ("smlocal", invoke_command(name)),
            ("curl", curl_command(address, local.get("KeyFile"))),
            ("Address", address),
        )
    )
    if trouble := local.get("PingTrouble"):
        yield Facts(rows=(("Health", trouble),))


def _models(view: JobView) -> Iterator[Block]:
    """The containers, if there is one variant. The table of requests has several."""
    request = view.local["Request"]
    rows = []
    for variant in variants_of(request):
        for container in containers_of(request, variant):
            named = variant.get("VariantName", facts.VARIANT)
            called = container.get("ContainerHostname")
            rows.append(
                (
                    Cell(text=f"{named}, {called}" if called else named),
                    Cell(text=container.get("Image", "")),
                    Cell(text=model_of(container) or "none"),
                )
            )
    if len(rows) == 1:
        (_, image, model) = rows[0]
        yield Facts(rows=(("Image", image.text), ("Model", model.text)))
    else:
        yield Table(columns=("Variant", "Image", "Model"), rows=tuple(rows), more="container")


def _requests(view: JobView, kept: InvocationCounts) -> Iterator[Block]:
    if kept.spans:
        yield Charts(charts=tuple(_charts(kept)))
    elif view.state == "InService":
        yield Facts(rows=(("Requests", "none so far"),))
    yield _variants(view, kept)


def _charts(kept: InvocationCounts) -> Iterator[Chart]:
    total, width = kept.total, kept.width
    numbers = range(max(kept.spans) + 1)
    axis = time_axis(width * len(numbers))
    middle = {number: width * (number + 0.5) for number in numbers}
    spans = {number: kept.spans.get(number, Tally()) for number in numbers}
    most = max(each.requests for each in spans.values()) / width
    yield Chart(
        title="Requests",
        value=f"{total.requests:,}",
        detail=f"per second, from {utc(kept.began)}; {counted(total.errors, 'error')}",
        lines=[
            Line(label="requests", value=f"{total.requests:,}", points=_rates(spans, middle, width, "requests")),
            Line(label="errors", value=f"{total.errors:,}", points=_rates(spans, middle, width, "errors")),
        ],
        y_range=(0.0, most),
        y_labels=("0", f"{most:.3g}/s"),
        **axis,
    )
    lines = []
    for name, share in (("p50", _HALF), ("p95", _MOST)):
        points = [(middle[n], found) for n, each in spans.items() if (found := each.quantile(share)) is not None]
        lines.append(Line(label=name, value=_seconds(total.quantile(share)), points=points))
    longest = max((y for line in lines for _, y in line.points), default=0.0)
    if longest:
        yield Chart(
            title="Time to answer",
            value=f"p50 {_seconds(total.quantile(_HALF))}",
            detail="median and 95th percentile"
            + (f" of each {duration(int(width))}" if width > 1 else " of each second"),
            lines=lines,
            y_range=(0.0, longest),
            y_labels=("0", _seconds(longest)),
            **axis,
        )


def _rates(spans: Mapping[int, Tally], middle: Mapping[int, float], width: float, member: str) -> list[XY]:
    return [(middle[number], getattr(each, member) / width) for number, each in spans.items()]


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _variants(view: JobView, kept: InvocationCounts) -> Table:
    """Each variant with its weight, requests, errors and times."""
    request = view.local["Request"]
    now = {each["VariantName"]: each for each in view.answer.get("ProductionVariants", ())}
    rows = []
    for variant in variants_of(request):
        name = variant.get("VariantName", facts.VARIANT)
        weight = now.get(name, {}).get("CurrentWeight", variant.get("InitialVariantWeight", 1.0))
        tally = kept.variants.get(name, Tally())
        numbers = [f"{weight:g}", f"{variant.get('InitialInstanceCount', 1):,}", f"{tally.requests:,}"]
        times = [_seconds(tally.quantile(share)) for share in (_HALF, _MOST)]
        rows.append(tuple(Cell(text=text) for text in (name, *numbers, f"{tally.errors:,}", *times)))
    columns = ("Variant", "Weight", "Instances", "Requests", "Errors", "p50", "p95")
    return Table(columns=columns, rows=tuple(rows), numbers=frozenset(range(1, len(columns))), more="variant")


def _errors(kept: InvocationCounts) -> Table:
    rows = [
        (
            _moment(each["At"]),
            Cell(text=f"{each['Count']:,}"),
            Cell(text=each["Variant"] or "none"),
            Cell(text=str(each["Status"])),
            Cell(text=each["Text"]),
        )
        for each in reversed(kept.errors)
    ]
    columns = ("Last at", "Times", "Variant", "Status", "Beginning of its body")
    return Table(columns=columns, rows=tuple(rows), numbers=frozenset({1, 3}), more="error")


def _moment(at: float) -> Cell:
    """Month, day and time; the exact value has the year."""
    whole = utc(at)
    return Cell(text=whole[5:19], whole=whole)


def _restarts(view: JobView) -> Iterator[Block]:
    latest = view.local.get("Restarts") or ()
    rows = [
        (_moment(each["At"]), Cell(text=each["Host"]), Cell(text=str(each["ExitCode"]))) for each in reversed(latest)
    ]
    yield Table(columns=("At", "Container", "Exit code"), rows=tuple(rows), numbers=frozenset({2}), more="restart")
    if (before := view.local.get("RestartCount", 0) - len(latest)) > 0:
        yield Facts(rows=(("Before these", f"{before:,}"),))

"""One small curve: the words around it are HTML and keep their size, the lines stretch with the screen."""

from collections.abc import Sequence

from smlocal.quick_dataclass import dataclass
from smlocal.report.markup import escaped
from smlocal.report.thinning import Place, thinned

_WIDTH = 600
_HEIGHT = 120
_STYLES = 6
"""Ways of drawing a line (style.py); later lines share the last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of a curve, and what it stands for where there are several."""

    label: str
    value: str
    points: Sequence[Place]


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """Everything a figure shows. What is in words is text, not HTML."""

    title: str
    value: str
    """The figure that matters most, beside the title."""
    detail: str
    """Below the title."""
    lines: Sequence[Line]
    x_range: tuple[float, float]
    x_words: tuple[str, str]
    y_range: tuple[float, float]
    y_words: tuple[str, str]
    limit: float | None = None
    """Drawn as a level of its own."""


def figure_of(curve: Curve) -> str:
    """The curve as a `figure`."""
    low, high = (escaped(words) for words in curve.y_words)
    start, end = (escaped(words) for words in curve.x_words)
    detail = f'<span class="detail">{escaped(curve.detail)}</span>' if curve.detail else ""
    return (
        '<figure class="curve">'
        f'<figcaption><span class="name">{escaped(curve.title)}</span> '
        f'<span class="value">{escaped(curve.value)}</span>{detail}</figcaption>'
        f'<div class="plot"><span class="high">{high}</span><span class="low">{low}</span>{_drawing(curve)}</div>'
        f'<div class="ends"><span>{start}</span><span>{end}</span></div>'
        f"{_legend(curve.lines)}</figure>"
    )


def swatch(index: int) -> str:
    """A piece of a line, to tell which is which."""
    return (
        '<svg class="swatch" viewBox="0 0 24 8" aria-hidden="true">'
        f'<path class="line {style_of(index)}" d="M0 4H24"/></svg>'
    )


def style_of(index: int) -> str:
    """The class of the line with this number."""
    return f"l{min(index, _STYLES - 1)}"


def _legend(lines: Sequence[Line]) -> str:
    if len(lines) <= 1:
        return ""
    entries = (
        f"<li>{swatch(index)}{escaped(line.label)} <b>{escaped(line.value)}</b></li>"
        for index, line in enumerate(lines)
    )
    return f'<ul class="legend">{"".join(entries)}</ul>'


def _drawing(curve: Curve) -> str:
    levels = [0.5, _HEIGHT / 2, _HEIGHT - 0.5]
    grid = "".join(f'<path class="grid" d="M0 {level:g}H{_WIDTH}"/>' for level in levels)
    limit = "" if curve.limit is None else f'<path class="limit" d="M0 {_y(curve, curve.limit):g}H{_WIDTH}"/>'
    drawn = "".join(_line(curve, line, index) for index, line in enumerate(curve.lines))
    name = f"{curve.title}: {curve.value}"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{escaped(name)}">'
        f"{grid}{limit}{drawn}</svg>"
    )


def _line(curve: Curve, line: Line, index: int) -> str:
    places = [(_x(curve, x), _y(curve, y)) for x, y in thinned(line.points, *curve.x_range)]
    if not places:
        return ""
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    last_x, last_y = places[-1]
    # Of no length and with round ends it is a dot, however the drawing is stretched.
    dot = f'<path class="dot {style_of(index)}" d="M{last_x:.1f} {last_y:.1f}h0"/>'
    return f'<polyline class="line {style_of(index)}" points="{text}"/>{dot}'


def _x(curve: Curve, x: float) -> float:
    start, end = curve.x_range
    # A single moment stands at the end, where the newest always is.
    return _WIDTH * (x - start) / (end - start) if end > start else float(_WIDTH)


def _y(curve: Curve, y: float) -> float:
    low, high = curve.y_range
    share = (y - low) / (high - low) if high > low else 0.5
    return _HEIGHT - 0.5 - (_HEIGHT - 1) * share

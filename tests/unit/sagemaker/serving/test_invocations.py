"""What is kept of the invocations of an endpoint: bounded, and right."""

import json
from pathlib import Path
from typing import Any

import pytest

from smlocal.sagemaker.serving.invocations import InvocationCounts, read_invocations

SPANS, ERRORS, VARIANTS = 240, 20, 100


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its last element is the time."""
    times = [1000.0]
    monkeypatch.setattr(f"{InvocationCounts.__module__}.time.time", lambda: times[-1])
    return times


def failed(text: str, status: int = 500) -> tuple[int, dict[str, Any]]:
    return 424, {"OriginalStatusCode": status, "OriginalMessage": text, "Message": "of the service"}


def test_requests_are_counted_by_time_and_by_variant(clock: list[float]) -> None:
    kept = InvocationCounts()
    kept.answered("Blue", 0.010, None)
    clock.append(1002.5)
    kept.answered("Green", 0.010, failed("no"))
    kept.answered("", None, (503, {"Message": "started again"}))
    assert {number: (each.requests, each.errors) for number, each in kept.spans.items()} == {0: (1, 0), 2: (2, 2)}
    assert {name: (each.requests, each.errors) for name, each in kept.variants.items()} == {
        "Blue": (1, 0),
        "Green": (1, 1),
    }
    assert (kept.total.requests, kept.total.errors, kept.total.times.total()) == (3, 2, 2)
    assert [(each["Status"], each["Text"], each["Count"]) for each in kept.errors] == [
        (500, "no", 1),
        (503, "started again", 1),
    ]


@pytest.mark.parametrize("seconds", [0.0, 0.00005, 0.0007, 0.012, 0.3, 4.0, 60.0, 3600.0])
def test_a_time_is_known_within_five_percent(seconds: float) -> None:
    kept = InvocationCounts()
    kept.answered("Blue", seconds, None)
    assert kept.total.quantile(0.5) == pytest.approx(max(seconds, 1e-4), rel=0.05)


def test_quantiles_are_of_all_requests() -> None:
    kept = InvocationCounts()
    for number in range(1, 101):
        kept.answered("Blue", number / 1000, None)
    assert kept.total.quantile(0.5) == pytest.approx(0.050, rel=0.05)
    assert kept.total.quantile(0.95) == pytest.approx(0.095, rel=0.05)
    assert InvocationCounts().total.quantile(0.5) is None


def test_the_file_stays_small_however_long_and_varied_the_service_is(tmp_path: Path, clock: list[float]) -> None:
    kept = read_invocations(str(tmp_path))
    for number in range(3000):
        clock.append(1000.0 + number * 977)
        kept.answered(f"variant-{number}", 1e-4 * 1.01**number, failed(f"{number} " + "x" * 10_000))
    assert len(kept.spans) <= SPANS
    assert (len(kept.errors), len(kept.variants)) == (ERRORS, VARIANTS)
    assert kept.total.requests == kept.total.errors == kept.total.times.total() == 3000
    assert (max(kept.spans) + 1) * kept.width >= 2999 * 977
    kept.write()
    assert (tmp_path / "invocations.json").stat().st_size < 100_000


def test_equal_errors_in_a_row_are_one(clock: list[float]) -> None:
    kept = InvocationCounts()
    for number, text in enumerate(("a", "a", "b", "a", "a", "a")):
        clock.append(1000.0 + number)
        kept.answered("Blue", 0.1, failed(text))
    assert [(each["Text"], each["Count"], each["At"]) for each in kept.errors] == [
        ("a", 2, 1001.0),
        ("b", 1, 1002.0),
        ("a", 3, 1005.0),
    ]


def test_the_next_supervisor_goes_on(tmp_path: Path, clock: list[float]) -> None:
    first = read_invocations(str(tmp_path))
    first.answered("Blue", 0.1, failed("no"))
    first.write()
    clock.append(1100.0)
    second = read_invocations(str(tmp_path))
    second.answered("Blue", 0.1, None)
    second.write()
    third = read_invocations(str(tmp_path))
    assert (third.began, sorted(third.spans), third.total.requests) == (1000.0, [0, 100], 2)
    assert third.variants["Blue"] == second.variants["Blue"]
    assert third.errors == first.errors


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", '{"Began": 1, "Width": 1, "Spans": {"0": [1]}}', "\x00"),
        *(
            f'{{"Began": 1, "Width": {width}, "Spans": {{"0": [1, 0, {{}}]}}, "Variants": {{}}, "Errors": []}}'
            for width in ("0", "-1", "NaN", "Infinity")
        ),
        *(
            f'{{"Began": 1, "Width": 1, "Spans": {{"0": [1, 0, {{}}]}}, "Variants": {{}}, "Errors": [{error}]}}'
            for error in ("1", '{"Variant": "", "Status": 500, "Text": ""}')
        ),
    ],
)
def test_a_damaged_file_is_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "invocations.json").write_text(content)
    found = read_invocations(str(tmp_path))
    assert (found.spans, found.variants, found.errors, found.began) == ({}, {}, [], 0.0)


def test_a_clock_that_is_set_back_loses_nothing(clock: list[float]) -> None:
    kept = InvocationCounts()
    kept.answered("Blue", 0.1, None)
    clock.append(10.0)
    kept.answered("Blue", 0.1, None)
    assert kept.spans[0].requests == 2


def test_what_was_not_changed_or_has_no_place_is_not_written(tmp_path: Path) -> None:
    kept = read_invocations(str(tmp_path))
    kept.write()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "folder").mkdir()
    replaced = read_invocations(str(tmp_path / "folder"))
    (tmp_path / "folder").rename(tmp_path / "moved")
    for each in (replaced, read_invocations(str(tmp_path / "gone"))):
        each.answered("Blue", 0.1, None)
        each.write()
    (tmp_path / "folder").mkdir()  # of another job
    replaced.answered("Blue", 0.1, None)
    replaced.write()
    assert [*tmp_path.rglob("*.json")] == []
    kept.answered("Blue", 0.1, None)
    kept.write()
    assert json.loads((tmp_path / "invocations.json").read_text())["Version"] == 1

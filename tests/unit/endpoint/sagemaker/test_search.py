"""Search, on jobs that are only stored."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.report.conftest import StoredJob

RATES = {"rate-low": "0.1", "rate-mid": "0.50", "rate-high": "10", "rate-word": "adaptive"}


@pytest.fixture
def rates(store_job: Callable[..., StoredJob]) -> None:
    for name, rate in RATES.items():
        store_job(name, request={"HyperParameters": {"learning_rate": rate}})


@pytest.fixture
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


def found(ask: Ask, **asked: Any) -> list[str]:
    results = ask("sagemaker", "Search", Resource="TrainingJob", **asked)["Results"]
    return [each["TrainingJob"]["TrainingJobName"] for each in results]


@pytest.mark.usefixtures("rates")
@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("LessThan", "0.5", {"rate-low"}),
        ("LessThanOrEqualTo", "0.5", {"rate-low", "rate-mid"}),
        ("GreaterThan", "0.5", {"rate-high"}),
        ("GreaterThanOrEqualTo", "9.5", {"rate-high"}),
        ("Equals", "0.10", {"rate-low"}),
        ("NotEquals", "0.5", {"rate-low", "rate-high", "rate-word"}),
        ("LessThan", "1", {"rate-low", "rate-mid"}),  # decimals are whole numbers then: 0
        ("GreaterThan", "0", {"rate-high"}),
        ("Equals", "adaptive", {"rate-word"}),
        ("LessThan", "b", set()),
        ("Equals", "nan", set()),
        ("LessThan", "1" * 400, set()),
        ("Contains", "0", {"rate-low", "rate-mid", "rate-high"}),
        ("In", "0.50,adaptive", {"rate-mid", "rate-word"}),
    ],
)
def test_hyperparameters_are_compared_as_numbers(ask: Ask, operator: str, value: str, expected: set[str]) -> None:
    one = {"Name": "HyperParameters.learning_rate", "Operator": operator, "Value": value}
    assert set(found(ask, SearchExpression={"Filters": [one]})) == expected


@pytest.mark.usefixtures("rates")
def test_hyperparameters_are_sorted_as_numbers_before_texts(ask: Ask) -> None:
    asked = {"SortBy": "HyperParameters.learning_rate", "SortOrder": "Ascending"}
    assert found(ask, **asked) == ["rate-low", "rate-mid", "rate-high", "rate-word"]


def test_the_job_that_changed_last_is_first(ask: Ask, store_job: Callable[..., StoredJob]) -> None:
    jobs = [store_job(name) for name in ("changed-first", "changed-last", "changed-mid")]
    for job, after in zip(jobs, (5, 50, 20), strict=True):
        job.end(after)
    assert found(ask) == ["changed-last", "changed-mid", "changed-first"]
    assert found(ask, SortOrder="Ascending") == ["changed-first", "changed-mid", "changed-last"]


@pytest.mark.usefixtures("far_from_greenwich")
def test_a_time_without_a_zone_is_in_utc(ask: Ask, store_job: Callable[..., StoredJob]) -> None:
    store_job("in-utc")  # created at 2026-09-21T14:13:20Z
    one = {"Name": "CreationTime", "Operator": "LessThan"}
    for value, expected in (
        ("2026-09-21T14:13:21", ["in-utc"]),
        ("2026-09-21T14:13:20", []),
        ("2026-09-21T16:13:21+02:00", ["in-utc"]),
        ("0001-01-01T00:00:00", []),
    ):
        assert found(ask, SearchExpression={"Filters": [{**one, "Value": value}]}) == expected

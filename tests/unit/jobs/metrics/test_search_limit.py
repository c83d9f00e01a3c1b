import re
import signal
from collections.abc import Iterator

import pytest

from smlocal.jobs.metrics.metrics_process import SearchLimit, SlowSearchError


@pytest.fixture
def limit() -> Iterator[SearchLimit]:
    with SearchLimit() as limit:
        yield limit


def test_a_search_finds_what_re_finds(limit: SearchLimit) -> None:
    found = limit.search(re.compile(r"loss=(\d)"), "loss=3")
    assert found is not None
    assert found[1] == "3"
    assert limit.search(re.compile("x"), "y") is None


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("regex", "line"),
    [
        (r"(a+)+$", "a" * 60 + "!"),
        (r"(a|a)*$", "a" * 60 + "!"),
        (r"(x+x+)+y", "x" * 5000),
        (r"(.*?,){25}(z)", "1," * 200),
        (r".*foo(1)", "x" * 150_000),
    ],
)
def test_what_takes_for_ever_is_broken_off_and_the_next_is_not(limit: SearchLimit, regex: str, line: str) -> None:
    with pytest.raises(SlowSearchError):
        limit.search(re.compile(regex), line)
    assert limit.search(re.compile("a"), "a") is not None


@pytest.mark.slow(0.5)
def test_time_between_searches_does_not_count(limit: SearchLimit) -> None:
    pattern = re.compile(r"(a+)+$")
    for _ in range(20):
        assert limit.search(pattern, "a" * 16 + "!") is None
        sum(range(2_000_000))


def test_nothing_is_left_of_it() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with SearchLimit() as limit:
        limit.search(re.compile("a"), "a")
        assert signal.getitimer(signal.ITIMER_VIRTUAL) != (0.0, 0.0)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == before

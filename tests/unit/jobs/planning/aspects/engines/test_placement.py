"""Hosts on engines."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.planning.aspects.engines.plan import engine_of_each
from smlocal.terms.placement import SPREAD

NAMES = st.lists(st.text(min_size=1), min_size=1, max_size=40, unique=True)


@given(hosts=NAMES, engines=NAMES)
def test_hosts_are_spread_evenly_and_in_turn(hosts: list[str], engines: list[str]) -> None:
    placed = engine_of_each(hosts, engines, SPREAD)
    assert list(placed) == hosts
    assert list(placed.values())[: len(engines)] == engines[: len(hosts)]
    counts = Counter(placed.values())
    assert max(counts.values()) - min(counts[engine] for engine in engines) <= 1
    assert all(placed[one] == placed[other] for one, other in zip(hosts, hosts[len(engines) :], strict=False))


@given(hosts=NAMES, engines=NAMES, data=st.data())
def test_a_placement_is_followed(hosts: list[str], engines: list[str], data: st.DataObject) -> None:
    placement = data.draw(st.fixed_dictionaries({host: st.sampled_from(engines) for host in reversed(hosts)}))
    placed = engine_of_each(hosts, engines, placement)
    assert placed == placement
    assert list(placed) == hosts

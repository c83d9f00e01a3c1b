"""Whatever comes when, it is dealt with once, in order, and by the time that all calls have returned."""

from threading import Barrier, Thread

from hypothesis import given, settings
from hypothesis import strategies as st

from smlocal.data.sources.s3.object_stream import ReorderBuffer


@settings(max_examples=30, deadline=None)
@given(order=st.permutations(range(40)), threads=st.integers(1, 4))
def test_everything_in_order(order: list[int], threads: int) -> None:
    dealt: list[int] = []
    together = Barrier(threads)

    def deal(number: int) -> int:
        dealt.append(number)
        return 3 * (number + 1)

    things: ReorderBuffer[int] = ReorderBuffer(deal)

    def download_channel(numbers: list[int]) -> None:
        together.wait(200)
        for number in numbers:
            things.add(3 * number, number)

    workers = [Thread(target=download_channel, args=(order[first::threads],)) for first in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert dealt == list(range(40))


def test_what_never_comes_is_waited_for() -> None:
    dealt: list[str] = []

    def deal(thing: str) -> int:
        dealt.append(thing)
        return len(dealt)

    things: ReorderBuffer[str] = ReorderBuffer(deal)
    things.add(2, "c")
    things.add(0, "a")
    assert dealt == ["a"]
    things.add(1, "b")
    assert dealt == ["a", "b", "c"]

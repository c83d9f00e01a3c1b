import pytest

from smlocal.data.sources.progress import Meter, Progress

GIB = 2**30


@pytest.mark.parametrize(
    ("progress", "said"),
    [
        (
            Progress(
                bytes=int(1.2 * GIB),
                total_bytes=4 * GIB,
                objects=120,
                total_objects=400,
                rate=310e6,
                eta_seconds=9.4,
            ),
            "train: 1.2 of 4.0 GiB, 120 of 400 objects, 310 MB/s, 9 s left",
        ),
        (
            Progress(bytes=0, total_bytes=12, objects=0, total_objects=1, rate=0, eta_seconds=None),
            "train: 0 of 12 B, 0 of 1 objects",
        ),
        (
            Progress(bytes=5 << 20, total_bytes=None, objects=3, total_objects=8, rate=2.5e6, eta_seconds=None),
            "train: 5.0 MiB, 3 of 8 objects, 2.5 MB/s",
        ),
        (
            Progress(bytes=100 << 10, total_bytes=80 * GIB, objects=3, total_objects=8, rate=1e7, eta_seconds=8500),
            "train: 0 of 80 GiB, 3 of 8 objects, 10 MB/s, 2 h 21 min left",
        ),
        (
            Progress(bytes=1 << 20, total_bytes=20 << 20, objects=3, total_objects=8, rate=1e5, eta_seconds=190),
            "train: 1 of 20 MiB, 3 of 8 objects, 0.1 MB/s, 3 min left",
        ),
        (
            Progress(bytes=1 << 20, total_bytes=20 << 20, objects=0, total_objects=0, rate=1e5, eta_seconds=190),
            "train: 1 of 20 MiB, 0.1 MB/s, 3 min left",
        ),
    ],
)
def test_the_sentence_for_people(progress: Progress, said: str) -> None:
    assert progress.sentence("train") == said


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_many_reports_become_a_few_with_a_rate_of_late() -> None:
    clock, told = Clock(), list[Progress]()
    meter = Meter(told.append, total_bytes=10_000, total_objects=100, clock=clock)
    for _ in range(50):
        clock.now += 0.01
        meter.add(100, 1)
    assert [(each.bytes, each.objects) for each in told] == [(2500, 25), (5000, 50)]
    assert told[-1].rate == pytest.approx(10_000)
    assert told[-1].eta_seconds == pytest.approx(0.5)
    for _ in range(100):  # ten times as slow, for long enough that what was before is forgotten
        clock.now += 0.1
        meter.add(10, 0)
    assert told[-1].rate == pytest.approx(100, rel=0.01)


def test_what_was_here_counts_as_done_and_makes_no_rate() -> None:
    told = list[Progress]()
    clock = Clock()
    meter = Meter(told.append, total_bytes=10, total_objects=2, clock=clock)
    meter.found(10, 2)
    assert told == []
    clock.now += 1
    meter.finish()
    assert told == [Progress(bytes=10, total_bytes=10, objects=2, total_objects=2, rate=0, eta_seconds=None)]


def test_bytes_that_were_fetched_again_never_lead_below_zero() -> None:
    told, clock = list[Progress](), Clock()
    meter = Meter(told.append, total_bytes=10, total_objects=1, clock=clock)
    clock.now += 1
    meter.add(15, 1)
    assert told[-1].eta_seconds == 0


def test_a_total_that_is_learned_on_the_way() -> None:
    told, clock = list[Progress](), Clock()
    meter = Meter(told.append, total_bytes=None, clock=clock)
    clock.now += 1
    meter.add(10)
    meter.expect(30)
    clock.now += 1
    meter.add(10)
    assert [(each.total_bytes, each.eta_seconds) for each in told] == [(None, None), (30, pytest.approx(1))]

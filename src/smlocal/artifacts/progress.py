"""How far the artifacts are, said by the thread that writes them; what sends them on is only asked."""

from collections.abc import Callable

from smlocal.artifacts.archive import Progress
from smlocal.sources.progress import Meter


class Telling:
    """Turns bytes done and bytes in all into a sentence a few times a second."""

    def __init__(self, working: Callable[[str], None] | None, beside: Callable[[], str]) -> None:
        """`beside` says what else is going on, or nothing."""
        self._working, self._beside = working, beside

    def about(self, name: str) -> Progress | None:
        """For one archive or folder; None when nobody listens."""
        working = self._working
        if working is None:
            return None
        last = 0
        meter: Meter | None = None

        def told(done: int, total: int) -> None:
            nonlocal last, meter
            if meter is None:
                meter = Meter(
                    lambda progress: working(" · ".join(filter(None, (progress.sentence(name), self._beside())))),
                    total_bytes=total,
                )
            meter.add(done - last)
            last = done

        return told

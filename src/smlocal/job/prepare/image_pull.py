"""The image of a job: its facts, and whether this engine can run it."""

from collections.abc import Callable
from typing import Literal

from smlocal.engine.interface import Engine, PullState
from smlocal.errors import ImageArchitectureError, ImageMissingError, ImagePullError
from smlocal.job.view import Reporter
from smlocal.planning.facts import EngineFacts, ImageFacts

Pull = Literal["missing", "always", "never"]


def pull_image(engine: Engine, name: str, pull: Pull, reporter: Reporter) -> tuple[ImageFacts | None, str | None]:
    """The image's facts, after pulling it if `pull` says so; or why it could not be pulled."""
    facts = engine.image(name)
    if pull == "never" and facts is None:
        raise ImageMissingError(
            f"the image {name} is not available locally, and --pull never forbids pulling it",
            remedy=["Build or load it, or run without --pull never.", "docker images lists the local images."],
        )
    if pull == "always" or facts is None:
        from smlocal.engine.ecr import ecr_login

        try:
            engine.pull(name, ecr_login(name), reporter.progress, _reported(name, reporter))
        except ImagePullError as error:
            return None, error.sentence
        facts = engine.image(name)
    return facts, None


def _reported(name: str, reporter: Reporter) -> Callable[[PullState], None]:
    """Reports the state of a pull as a sentence: `pulling app:1: 84 of 210 MiB, 3 of 7 layers, 12 MB/s, 10 s left`."""
    from smlocal.sources.progress import Meter

    meter = Meter(
        lambda progress: reporter.working(progress.sentence(f"pulling {name}", objects="layers")), total_bytes=None
    )
    counted, ready = 0, 0

    def report(state: PullState) -> None:
        nonlocal counted, ready
        meter.expect(state.total_bytes, state.total_layers)
        added, done = state.bytes - counted, state.layers - ready
        counted, ready = state.bytes, state.layers
        meter.add(added, done)

    return report


def check_architecture(name: str, image: ImageFacts | None, engine: EngineFacts) -> None:
    """Refuse an image for another processor, whose own error message would explain nothing."""
    if image is None or not image.architecture or not engine.architecture:
        return
    if image.architecture != engine.architecture:
        raise ImageArchitectureError(
            f"the image {name} is built for {image.operating_system}/{image.architecture}, "
            f"the engine runs {engine.operating_system}/{engine.architecture}",
            remedy=[f"Build it with --platform {engine.operating_system}/{engine.architecture}."],
        )

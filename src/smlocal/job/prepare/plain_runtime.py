"""Which runtime keeps GPUs out of containers that have not been given any."""

from collections.abc import Mapping

from smlocal.contract.gpus import names_gpus
from smlocal.engine.interface import Engine
from smlocal.planning.facts import ImageFacts


def plain_runtime(engine: Engine, image: ImageFacts | None, requested: Mapping[str, str] | None) -> str | None:
    """As `MachineFacts.plain_runtime`. The engine is asked only if the image or the request names GPUs."""
    variables = {**(image.environment if image is not None else {}), **(requested or {})}
    return engine.plain_runtime() if names_gpus(variables) else ""

"""The image of a job on all of its engines: the same one, brought to those that lack it."""

from smlocal.errors import ImageDiffersError, ImageMissingError
from smlocal.job.prepare.image_pull import Pull, check_architecture, pull_image
from smlocal.job.prepare.placed_engines import PlacedEngine, PlacedEngines
from smlocal.job.view import Reporter
from smlocal.planning.facts import ImageFacts


def image_of_all(
    placed: PlacedEngines, name: str, pull: Pull, reporter: Reporter
) -> tuple[ImageFacts | None, str | None]:
    """The image's facts, once all engines have it; or why it could not be pulled."""
    has = None if pull == "always" or len(placed.each) == 1 else _one_with(placed, name)
    found: dict[str, ImageFacts] = {}
    for each in placed.each:
        facts = each.engine.image(name) if has is not None else None
        if facts is None and has is not None and has.facts.architecture == each.facts.architecture:
            facts = _sent(name, pull, has, each, reporter)
        if facts is None:
            facts, refused = pull_image(each.engine, name, pull, reporter)
            if refused is not None:
                return None, refused
        check_architecture(name, facts, each.facts)
        if facts is not None:
            found[each.facts.address] = facts
    _check_same(name, found)
    return found.get(placed.first.facts.address), None


def _one_with(placed: PlacedEngines, name: str) -> PlacedEngine | None:
    return next((each for each in placed.each if each.engine.image(name) is not None), None)


def _sent(name: str, pull: Pull, source: PlacedEngine, target: PlacedEngine, reporter: Reporter) -> ImageFacts | None:
    """Send the image from an engine that has it, which gives exactly that image, also if it is in no registry."""
    if pull == "never":
        raise ImageMissingError(
            f"the engine at {target.facts.address} does not have the image {name}, and --pull never "
            "forbids bringing it",
            remedy=[f"Load it there, or run without --pull never: the engine at {source.facts.address} has it."],
        )
    reporter.progress(f"sending {name} to the engine at {target.facts.address}")
    target.engine.load(source.engine.save(name))
    return target.engine.image(name)


def _check_same(name: str, found: dict[str, ImageFacts]) -> None:
    """On all engines of one architecture; on others, an image of one name is built from the same sources at best."""
    first: dict[str, tuple[str, str]] = {}
    for address, facts in found.items():
        where, known = first.setdefault(facts.architecture, (address, facts.id))
        if facts.id != known:
            raise ImageDiffersError(
                f"{name} is not the same image on all engines of the job",
                details=[f"{known} at {where}", f"{facts.id} at {address}"],
                remedy=[f"Remove it where it is wrong: docker -H {address} rmi {name}", "or pull it: --pull always"],
            )

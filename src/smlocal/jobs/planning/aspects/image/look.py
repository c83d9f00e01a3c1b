"""The image of a job on its engines: pulled, brought to those that lack it, and its files that the service may hide."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, Protocol

from smlocal.base.at_use import at_use
from smlocal.data.sources.progress import Meter
from smlocal.engine.containers import idle_container
from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.engine.interface import Engine, PullState
from smlocal.errors import (
    EngineError,
    ImageArchitectureError,
    ImageDiffersError,
    ImageMissingError,
    ImagePullError,
    RegistryUnreachableError,
)
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine, PlacedEngines
from smlocal.jobs.store.remembered import known_image, store_known_image

if TYPE_CHECKING:
    from smlocal.base.foreign_archive import stream
    from smlocal.base.foreign_archive.archive import ArchiveLimits, ForeignArchive
    from smlocal.base.foreign_archive.tar_entries import tar_entries
else:
    stream = at_use("smlocal.base.foreign_archive.stream")
    ArchiveLimits = at_use("smlocal.base.foreign_archive.archive", "ArchiveLimits")
    ForeignArchive = at_use("smlocal.base.foreign_archive.archive", "ForeignArchive")
    tar_entries = at_use("smlocal.base.foreign_archive.tar_entries", "tar_entries")

Pull = Literal["missing", "always", "never"]
_ABSENT: Final = 404
_MAX_FILES: Final = 4
_MAX_BYTES: Final = 32 << 20
"""The largest archive of `/opt/ml` that is read. Files behind a large one are not found."""
SERVE: Final = "serve"
"""The argument that starts a server; Docker then looks for a program of this name."""
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The PATH of an image that does not set it."""
_MOST_FOLDERS: Final = 20
"""Folders of a PATH to search: each is a call to the engine."""
_LABEL: Final = "image-look"


class ProgressScreen(Protocol):
    """A screen that reports progress."""

    def progress(self, text: str) -> None:
        """A short line about something slow."""

    def working(self, text: str) -> None:
        """The state of something slow; each text replaces the one before."""


def image_of_all(
    placed: PlacedEngines, name: str, pull: Pull, reporter: ProgressScreen
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


def _sent(
    name: str, pull: Pull, source: PlacedEngine, target: PlacedEngine, reporter: ProgressScreen
) -> ImageFacts | None:
    """Send the image from an engine that has it, which gives exactly that image, even if it is in no registry."""
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


def pull_image(engine: Engine, name: str, pull: Pull, reporter: ProgressScreen) -> tuple[ImageFacts | None, str | None]:
    """The image's facts, after pulling it if `pull` says so; or why it could not be pulled."""
    facts = engine.image(name)
    if pull == "never" and facts is None:
        from smlocal.engine.pull import meant_images

        raise ImageMissingError(
            f"the image {name} is not available locally, and --pull never forbids pulling it",
            remedy=[
                *meant_images(engine, name),
                "Build or load it, or run without --pull never.",
                "docker images lists the local images.",
            ],
        )
    if pull == "always" or facts is None:
        from smlocal.engine.pull import ecr_login, meant_images  # the docker SDK: 58 ms, and most images are there

        try:
            engine.pull(name, ecr_login(name), reporter.progress, _reported(name, reporter))
        except RegistryUnreachableError as error:
            error.remedy = (*meant_images(engine, name), *error.remedy)
            raise
        except ImagePullError as error:
            for line in meant_images(engine, name):
                reporter.progress(line)
            return None, error.sentence
        facts = engine.image(name)
    return facts, None


def _reported(name: str, reporter: ProgressScreen) -> Callable[[PullState], None]:
    """Reports the state of a pull as a sentence: `pulling app:1: 84 of 210 MiB, 3 of 7 layers, 12 MB/s, 10 s left`."""
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


def with_files(image: ImageFacts, engine: Engine, home: str, *, root: str) -> ImageFacts:
    """The image's facts with the first files below `root` and the program `serve`.

    Unchanged if the engine refuses to list files. The result is stored, so this happens once per image.
    """
    known = known_image(home, image.id)
    if known is None:
        try:
            with idle_container(engine, image.id, label=_LABEL) as container:
                known = _find(container, engine, root), _program_of(image, container, engine)
        except EngineError as error:
            if not error.status:
                raise
            return image
        store_known_image(home, image.id, *known)
    files, program = known
    return replace(image, reserved_files=files, serve_program=program)


def _find(container: str, engine: Engine, root: str) -> tuple[str, ...]:
    try:
        with closing(engine.get_archive(container, root)) as archive:
            return reserved_files(archive, root)
    except EngineError as error:
        if error.status != _ABSENT:
            raise
        return ()


def _program_of(image: ImageFacts, container: str, engine: Engine) -> str:
    """The path of `serve` on the PATH of an image; empty if absent."""
    folders = dict.fromkeys(each for each in image.environment.get("PATH", _PATH).split(":") if each.startswith("/"))
    for folder in [*folders][:_MOST_FOLDERS]:
        path = f"{folder.rstrip('/')}/{SERVE}"
        try:
            with closing(engine.get_archive(container, path, small=True)) as archive:
                first = next(tar_entries(stream.ByteStream(archive)), None)
        except EngineError as error:
            if not error.status:  # else it is missing; Docker answers 500 if its folder is a file
                raise
        else:
            if first is not None and first.kind != "folder":
                return path
    return ""


def reserved_files(archive: Iterator[bytes], root: str) -> tuple[str, ...]:
    """The first files in an archive of `/opt/ml`, as paths in the container, without `code`, which stays visible."""
    found: list[str] = []
    with suppress(stream.ArchiveError):  # cut off at the limit
        for member in ForeignArchive(archive, ArchiveLimits(content=_MAX_BYTES), compressed=False):
            below = member.name.rstrip("/").partition("/")[2]
            if below and member.kind != "folder" and f"{below}/".partition("/")[0] != "code":
                found.append(f"{root}/{_printable(below)}")
            if len(found) == _MAX_FILES:
                break
    return tuple(found)


def _printable(name: str) -> str:
    """The name without control characters and invalid UTF-8: it is shown on terminals and stored as JSON."""
    return "".join(character if character.isprintable() else "\ufffd" for character in name)

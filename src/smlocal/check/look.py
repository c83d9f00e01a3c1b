"""Look at an image once: its configuration always, its files where a rule asks for any."""

import posixpath
from collections.abc import Callable, Sequence
from contextlib import closing

from smlocal.api.image_name import is_image_name
from smlocal.check.files import Wanted, wanted
from smlocal.check.interface import Rule
from smlocal.check.reading.kept import keep, kept
from smlocal.check.reading.saved_image import BrokenImageError, SavedImage, read_root, read_saved_image
from smlocal.check.subject import Profile, Step, Subject
from smlocal.engine.idle_container import idle_container
from smlocal.engine.interface import Engine
from smlocal.errors import EngineError, ImageArchiveError, ImageMissingError, ImageNameError
from smlocal.planning.facts import ImageFacts
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.readable import readable_bytes

_LARGE = 300 << 20
"""Bytes, which an engine needs some seconds to deliver."""


def look_at(
    image: str,
    engine: Engine,
    rules: Sequence[Rule],
    *,
    home: str,
    job: JobFile | None = None,
    profiles: frozenset[Profile] = frozenset(),
    said: Callable[[str], None] = lambda _: None,
) -> Subject:
    """What these rules need to see; `said` is told before something that takes long."""
    if not is_image_name(image):
        raise ImageNameError(
            f"{image!r} is not a valid image name",
            remedy=[
                "Write [registry/]repository[:tag][@digest], with the repository in lower case, or the id of an image."
            ],
        )
    facts = engine.image(image)
    if facts is None:
        raise ImageMissingError(
            f"the image {image} is not available locally",
            remedy=["Build it, or load or pull it: docker pull " + image, "docker images lists the local images."],
        )
    if any(rule.files for rule in rules):
        saved = _files(facts, engine, home, image, said)
        return Subject(
            image=image, facts=facts, read=saved.files, history=saved.history, profiles=profiles, job=job, home=home
        )
    steps = tuple(Step(text=text) for text in engine.history(facts.id))
    return Subject(image=image, facts=facts, history=steps, profiles=profiles, job=job, home=home)


def _files(facts: ImageFacts, engine: Engine, home: str, image: str, said: Callable[[str], None]) -> SavedImage:
    """All that any rule may ask for is read, so that what is remembered serves every later call."""
    from smlocal.check.registry import all_rules

    wishes = tuple(dict.fromkeys(wish for rule in all_rules() for wish in rule.files))
    known = kept(home, facts.id, wishes)
    if known is not None:
        return known
    names = {posixpath.basename(word) for word in (*(facts.entrypoint or ()), *(facts.command or ()))}
    if facts.size > _LARGE:
        said(f"reading {image} ({readable_bytes(facts.size)}); this is done once for an image")
    try:
        with closing(engine.save(facts.id)) as pieces:
            saved = read_saved_image(pieces, wanted(wishes, names), image=facts.id)
    except (BrokenImageError, EngineError) as error:
        if isinstance(error, EngineError) and not error.status:
            raise  # the engine is lost, or no engine
        if engine.image(facts.id) is None:
            raise ImageMissingError(f"the image {image} was removed while it was being checked") from error
        raise ImageArchiveError(
            f"the engine did not deliver the files of the image {image}: {error}",
            remedy=[f"Does this work?  docker save {image} > /dev/null"],
        ) from error
    if saved.files.unread:
        saved = _flattened(facts, engine, wanted(wishes, names)) or saved
    keep(home, facts.id, wishes, saved)
    return saved


def _flattened(facts: ImageFacts, engine: Engine, wish: Wanted) -> SavedImage | None:
    """The files as a container has them, which the engine has unpacked; only from which layer they are is not known.

    None where the engine does not deliver them so either.
    """
    with idle_container(engine, facts.id, label="image-check") as container:
        try:
            files = read_root(engine.get_archive(container, "/"), wish)
        except (BrokenImageError, EngineError):
            return None
    return SavedImage(files=files, history=tuple(Step(text=text) for text in engine.history(facts.id)))

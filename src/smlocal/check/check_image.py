"""`smlocal check` as a function: look at an image, ask the rules, and judge what they say."""

import hashlib
import json
import os
import posixpath
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from datetime import date
from typing import Any

from smlocal.api.image_name import is_image_name
from smlocal.base.files import replacement
from smlocal.base.readable import readable_bytes
from smlocal.check import DEFAULT_TIMEOUT
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.examine import Ignore, examine, ignores_of, without_ignored
from smlocal.check.image_files import Files, ImageEntry, ImageFiles, Wanted, wanted
from smlocal.check.interface import CheckReport, Rule, RuleResult
from smlocal.check.jobs.interface import Scenario
from smlocal.check.places import placer
from smlocal.check.registry import all_rules, check_ids, chosen_rules
from smlocal.check.saved_image import BrokenImageError, SavedImage, read_root, read_saved_image
from smlocal.check.serving.model import ServingSubject
from smlocal.check.subject import HistoryStep, LaunchProfile, ProcessingCommand, Subject
from smlocal.engine.containers import idle_container
from smlocal.engine.facts import ImageFacts
from smlocal.engine.interface import Engine
from smlocal.errors import EngineError, ImageArchiveError, ImageMissingError, ImageNameError, UsageRefusedError
from smlocal.jobs.planning.aspects.image.plan import is_model_trainer
from smlocal.sagemaker.jobfile.job_file import JobFile


def check_image(
    image: str,
    engine: Engine,
    *,
    home: str,
    job: JobFile | None = None,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    profiles: Sequence[LaunchProfile] = (),
    static: bool = False,
    ignores: Sequence[Ignore] = (),
    dockerfile: str = "",
    today: date | None = None,
    timeout: int = DEFAULT_TIMEOUT,
    serving: ServingSubject | None = None,
    processing: ProcessingCommand | None = None,
    said: Callable[[str], None] = lambda _: None,
) -> CheckReport:
    """Check an image, or the image of a job against its requirements.

    `serving`: what an endpoint of it serves and is asked. `processing`: the command of a processing job.

    `dockerfile` is the path of the one that made the image; findings are then placed at its lines. Rules that run jobs
    come last: `timeout` is the limit of each job in seconds. `said` is called about long steps: reading a large image,
    and which jobs run and how they end.
    """
    wanted = frozenset(profiles) | _profiles_of(job)
    rules = chosen_rules(only=only, skip=skip, profiles=wanted, static=static)
    if not rules:
        raise UsageRefusedError(
            "no rule is left to check",
            remedy=[
                "Leave out --skip, or --static, which leaves out rules that run a job, or name other rules (--only)."
            ],
        )
    check_ids((each.id for each in ignores), "--ignore")
    accepted = (*ignores, *(ignores_of(job) if job is not None else ()))
    place = placer(dockerfile)
    subject = look_at(image, engine, rules, home=home, job=job, profiles=wanted, said=said)
    subject = replace(subject, processing=processing)
    found = [
        *examine([rule for rule in rules if not rule.runs_jobs], subject),
        *_examine_running(
            [rule for rule in rules if rule.runs_jobs],
            subject,
            engine,
            serving=_asked(serving or ServingSubject(image=image), rules, wanted),
            timeout=timeout,
            said=said,
        ),
    ]
    found.sort(key=lambda result: rules.index(result.rule))
    results = without_ignored(found, accepted, today or date.today(), place(subject))  # noqa: DTZ011 - the reader's day
    return CheckReport(
        image=image,
        image_id=subject.facts.id,
        job_file=_file(job, serving) if processing is None else processing.file,
        dockerfile=dockerfile,
        results=results,
    )


def _profiles_of(job: JobFile | None) -> frozenset[LaunchProfile]:
    """The launcher whose command a job file has."""
    specification = job.request.AlgorithmSpecification if job is not None else None
    if specification is None:
        return frozenset()
    words = (*(specification.ContainerEntrypoint or ()), *(specification.ContainerArguments or ()))
    return frozenset({LaunchProfile.MODEL_TRAINER} if is_model_trainer(words) else ())


def _file(job: JobFile | None, serving: ServingSubject | None) -> str:
    """The file that was checked; empty for an image."""
    if job is not None:
        return job.document.name
    return serving.document.name if serving is not None and serving.document is not None else ""


def _asked(serving: ServingSubject, rules: Sequence[Rule], profiles: frozenset[LaunchProfile]) -> ServingSubject:
    """What is served. A rule about a trained model needs one, however it was asked for."""
    trains = LaunchProfile.TRAIN_AND_SERVE in profiles or any(rule.jobs and rule.probes for rule in rules)
    return replace(serving, after_training=trains)


def _examine_running(
    rules: Sequence[Rule],
    subject: Subject,
    engine: Engine,
    *,
    serving: ServingSubject,
    timeout: int,
    said: Callable[[str], None],
) -> Iterator[RuleResult]:
    """Those that run jobs; then those that ask an endpoint, when nothing else runs."""
    if not rules:
        return
    from smlocal.check.check_folder import CheckFolder  # static checks do without

    with ExitStack() as stack:
        folder = stack.enter_context(CheckFolder(subject.home, said=said))
        of_endpoints = [rule for rule in rules if rule.probes]
        if len(of_endpoints) < len(rules) or serving.after_training:
            from smlocal.check.jobs.run_jobs import RunningJobs  # not for endpoints alone

            jobs = stack.enter_context(
                RunningJobs(subject.image, subject.job, engine, folder, timeout=timeout, said=said)
            )
            subject = replace(subject, started=jobs)
            jobs.start(_scenarios(rules, subject))
        yield from examine([rule for rule in rules if not rule.probes], subject)
        if of_endpoints:
            from smlocal.check.serving.run_endpoint import RunningEndpoint  # only some checks deploy

            endpoint = stack.enter_context(
                RunningEndpoint(
                    serving,
                    engine,
                    folder,
                    jobs=subject.started,
                    wanted=frozenset().union(*(rule.probes for rule in of_endpoints)),
                    timeout=timeout,
                    said=said,
                )
            )
            yield from examine(of_endpoints, replace(subject, served=endpoint))


def _scenarios(rules: Sequence[Rule], subject: Subject) -> Iterator[Scenario]:
    """The jobs that the rules want to be run; a rule that cannot say will be skipped."""
    for rule in rules:
        if rule.jobs is not None:
            try:
                yield from rule.jobs(subject)
            except CannotLookError:
                continue


_LARGE = 300 << 20
"""Bytes, which an engine needs some seconds to deliver."""
_COPIES = 2
"""Docker writes an image to its disk twice, as seen, before it delivers the first byte."""


def look_at(
    image: str,
    engine: Engine,
    rules: Sequence[Rule],
    *,
    home: str,
    job: JobFile | None = None,
    profiles: frozenset[LaunchProfile] = frozenset(),
    said: Callable[[str], None] = lambda _: None,
) -> Subject:
    """The data that these rules need; `said` is called before a long step."""
    if not is_image_name(image):
        raise ImageNameError(
            f"{image!r} is not a valid image name",
            remedy=[
                "Write [registry/]repository[:tag][@digest], with the repository in lower case, or the id of an image."
            ],
        )
    facts = engine.image(image)
    if facts is None:
        from smlocal.engine.pull import meant_images  # the docker SDK, only for an error

        raise ImageMissingError(
            f"the image {image} is not available locally",
            remedy=[
                *meant_images(engine, image),
                "Build it, or load or pull it: docker pull " + image,
                "docker images lists the local images.",
            ],
        )
    place = engine.facts().place
    if place is not None:
        said(f"the history of the image is not read in {place.name}: build arguments are not checked")
    if any(rule.files for rule in rules):
        saved = _files(facts, engine, home, image, said)
        return Subject(
            image=image, facts=facts, read=saved.files, history=saved.history, profiles=profiles, job=job, home=home
        )
    steps = tuple(HistoryStep(text=text) for text in engine.history(facts.id)) if place is None else ()
    return Subject(image=image, facts=facts, history=steps, profiles=profiles, job=job, home=home)


def _files(facts: ImageFacts, engine: Engine, home: str, image: str, said: Callable[[str], None]) -> SavedImage:
    """All files that any rule may ask for are read, so that the remembered files serve every later call."""
    wishes = tuple(dict.fromkeys(wish for rule in all_rules() for wish in rule.files))
    known = stored_image(home, facts.id, wishes)
    if known is not None:
        return known
    names = {posixpath.basename(word) for word in (*(facts.entrypoint or ()), *(facts.command or ()))}
    place = engine.facts().place
    if facts.size > _LARGE:
        said(f"reading {image} ({readable_bytes(facts.size)}); this is done once per image")
    if place is not None:
        from smlocal.check.own_reading import read_by_itself  # for few users

        said(f"reading the files of {image} in a container: {place.name} is not known to allow docker save")
        files = read_by_itself(facts, engine, place, wanted(wishes, names), home=home)
        saved = SavedImage(files=files, history=())
        store_image(home, facts.id, wishes, saved)
        return saved
    room = engine.disk_room()
    if room is not None and room.copies and facts.size * _COPIES > room.free:
        free = f"{readable_bytes(room.free)} are free at {room.folder}"
        said(f"reading {image} without its layers: it has {readable_bytes(facts.size)}, and {free}")
        # Not remembered: with more room, the layers are read too.
        if (flattened := _flattened(facts, engine, wanted(wishes, names))) is not None:
            return flattened
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
    store_image(home, facts.id, wishes, saved)
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
    return SavedImage(files=files, history=tuple(HistoryStep(text=text) for text in engine.history(facts.id)))


_FORMAT = 3
"""The version of the file, and of how images are read: raise it with either."""
_MOST = 30
"""Images; those that were not used for the longest time go first."""
_FOLDER = "checked-images"
_CONTENTS, _END = "contents", "end"
"""Lines between the parts; the last says that the file is whole."""


def stored_image(home: str, image: str, wishes: Sequence[Files]) -> SavedImage | None:
    """The remembered files of an image, if they are all that is wished for."""
    path = _path(home, image, wishes)
    try:
        with open(path, encoding="ascii") as file:
            found = _read(map(json.loads, file))
        os.utime(path)
    except (OSError, ValueError, LookupError, TypeError, StopIteration):  # absent, or damaged
        return None
    return found


def store_image(home: str, image: str, wishes: Sequence[Files], saved: SavedImage) -> None:
    """Write it down. A home that does not exist or cannot be written is left as it is: the next check reads again."""
    if saved.files.unread or saved.files.crowded:
        return
    path = _path(home, image, wishes)
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with replacement(path) as file:
            file.writelines(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in _lines(saved))
        _make_room(os.path.dirname(path))


def _path(home: str, image: str, wishes: Sequence[Files]) -> str:
    what = hashlib.sha256(repr((_FORMAT, image, wishes)).encode()).hexdigest()[:32]
    return os.path.join(home, _FOLDER, f"{what}.jsonl")


def _make_room(folder: str) -> None:
    paths = sorted((entry.path for entry in os.scandir(folder)), key=lambda path: os.stat(path).st_mtime)
    for path in paths[:-_MOST]:
        os.unlink(path)


def _lines(saved: SavedImage) -> Iterator[Any]:
    """One after another, so that neither side holds it all twice. Most files have one of a few owners and modes."""
    kinds: dict[tuple[Any, ...], int] = {}
    for entries in saved.files.folders.values():
        for entry in entries.values():
            kinds.setdefault(_kind(entry), len(kinds))
    yield [list(kinds), [[step.text, step.layer] for step in saved.history]]
    for folder, entries in saved.files.folders.items():
        yield [
            folder,
            [
                [name, entry.size, kinds[_kind(entry)], *([entry.link] if entry.link else [])]
                for name, entry in entries.items()
            ],
        ]
    yield _CONTENTS
    for path, content in saved.files.contents.items():
        yield [path, b64encode(content).decode()]
    yield _END


def _kind(entry: ImageEntry) -> tuple[Any, ...]:
    return (entry.kind, entry.mode, entry.uid, entry.gid, entry.layer)


def _read(lines: Iterator[Any]) -> SavedImage:
    listed, history = next(lines)
    kinds = [tuple(kind) for kind in listed]
    folders: dict[str, dict[str, ImageEntry]] = {}
    for line in lines:
        if line == _CONTENTS:
            break
        folder, entries = line
        here = folders.setdefault(folder, {})
        for name, size, number, *link in entries:
            kind, mode, uid, gid, layer = kinds[number]
            here[name] = ImageEntry(kind, mode, uid, gid, size, layer, link[0] if link else "")
    contents: dict[str, bytes] = {}
    for line in lines:
        if line == _END:
            break
        path, content = line
        contents[path] = b64decode(content)
    else:
        raise ValueError
    steps = tuple(HistoryStep(text=text, layer=layer) for text, layer in history)
    return SavedImage(files=ImageFiles(folders=folders, contents=contents), history=steps)

"""Whether an engine mounts this machine's folders: it is tried once for each engine, and remembered in the home.

The kind of socket does not tell. The engine of a virtual machine may share the home or not, and a container into which
the socket of its machine is mounted has other folders than that machine.
"""

import os
from dataclasses import replace

from smlocal.engine.interface import Engine
from smlocal.errors import EngineError
from smlocal.planning.facts import EngineFacts, ImageFacts
from smlocal.store.remembered import remember_tried, tried


def with_known_folders(facts: EngineFacts, home: str) -> EngineFacts:
    """The facts with what is remembered; nothing is tried."""
    return _with(facts, tried(home, tried_key(facts, home))) or facts


def with_folder_facts(facts: EngineFacts, engine: Engine, image: ImageFacts | None, home: str) -> EngineFacts:
    """The facts with what is known or can be tried now; without an image nothing can be tried."""
    if not facts.identity:
        return facts
    known = _with(facts, tried(home, tried_key(facts, home)))
    if known is not None:
        return known
    if image is None:
        return _guessed(facts, engine, "no image is at hand to try it with")
    return try_folders_again(facts, engine, image.id, home)


def try_folders_again(facts: EngineFacts, engine: Engine, image: str, home: str) -> EngineFacts:
    """The same, whatever is remembered."""
    if not facts.identity:
        return facts
    from smlocal.job.prepare.folder_trial import FolderTrialError, try_folders  # once for each engine

    try:
        found = try_folders(facts, engine, image, home)
    except FolderTrialError as error:
        return _guessed(facts, engine, str(error))
    except EngineError as error:
        if not error.status:  # no engine answers
            raise
        return replace(facts, untried=error.sentence)
    remember_tried(home, tried_key(facts, home), found)
    return _with(facts, found) or facts


def tried_key(facts: EngineFacts, home: str) -> str:
    """A home that another machine uses too has the entries of its engines as well."""
    return f"{facts.identity} {os.path.realpath(home)}"


def _guessed(facts: EngineFacts, engine: Engine, why: str) -> EngineFacts:
    """With a reason to doubt the guess, unless the engine has the same mounts as this process."""
    return facts if facts.local and not facts.desktop and engine.has_our_mounts() else replace(facts, untried=why)


def _with(facts: EngineFacts, found: object) -> EngineFacts | None:
    """None if nothing is known, or if it is damaged."""
    match found:
        case {"SharesFolders": bool(shares), "SameMounts": bool(same), "Slowness": (float() | None) as slowness}:
            return replace(facts, shares_folders=shares, same_mounts=same, slowness=slowness)
    return None

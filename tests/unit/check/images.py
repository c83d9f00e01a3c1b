"""Images in memory: archives as engines make them, and what rules look at."""

import io
import json
import posixpath
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from smlocal.check.image_files import wanted
from smlocal.check.registry import all_rules
from smlocal.check.saved_image import SavedImage, read_saved_image
from smlocal.check.subject import LaunchProfile, Subject
from smlocal.engine.facts import ImageFacts
from smlocal.sagemaker.jobfile.job_file import JobFile

ID = "sha256:" + "ab" * 32
SCRIPT = b"#!/bin/sh\nexec /opt/train\n"
FOLDER, LINK, HARD = tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE


def file(
    name: str,
    content: bytes = b"",
    *,
    mode: int = 0o644,
    kind: bytes = tarfile.REGTYPE,
    link: str = "",
    uid: int = 0,
    gid: int = 0,
) -> tuple[tarfile.TarInfo, bytes]:
    """One entry of a layer."""
    info = tarfile.TarInfo(name)
    info.mode, info.type, info.linkname, info.size, info.uid, info.gid = mode, kind, link, len(content), uid, gid
    return info, content


def program(name: str, content: bytes = SCRIPT) -> tuple[tarfile.TarInfo, bytes]:
    """An executable."""
    return file(name, content, mode=0o755)


def layer(*entries: tuple[tarfile.TarInfo, bytes], format: int = tarfile.GNU_FORMAT) -> bytes:  # noqa: A002 - tarfile's own word
    """The archive of a layer."""
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w", format=format, encoding="utf-8", errors="surrogateescape") as archive:
        for info, content in entries:
            archive.addfile(info, io.BytesIO(content))
    return into.getvalue()


def archive(members: Mapping[str, bytes | str]) -> bytes:
    """An archive of whole files; a text is the target of a link."""
    entries = [
        file(name, kind=LINK, link=content) if isinstance(content, str) else file(name, content)
        for name, content in members.items()
    ]
    return layer(*entries)


def configuration(layers: int, history: Sequence[Mapping[str, Any]] = ()) -> bytes:
    """The document of an image."""
    steps = list(history) or [{"created_by": f"/bin/sh -c make {number}"} for number in range(layers)]
    document = {"history": steps, "rootfs": {"type": "layers", "diff_ids": [f"sha256:{n}" for n in range(layers)]}}
    return json.dumps(document).encode()


def saved(*layers: bytes, history: Sequence[Mapping[str, Any]] = ()) -> bytes:
    """As Docker 20.10 writes an image, in which layers come in no order."""
    names = [f"{number:064x}/layer.tar" for number in range(len(layers))]
    config = f"{'ab' * 32}.json"
    parts: dict[str, bytes | str] = {config: configuration(len(layers), history)}
    for name, content in reversed(list(zip(names, layers, strict=True))):
        folder = posixpath.dirname(name)
        parts |= {f"{folder}/VERSION": b"1.0", f"{folder}/json": b"{}", name: content}
    manifest = [{"Config": config, "RepoTags": None, "Layers": names}]
    return archive({**parts, "manifest.json": json.dumps(manifest).encode()})


def pieces(content: bytes, size: int = 4096) -> Iterable[bytes]:
    """As they come from a socket."""
    return (content[at : at + size] for at in range(0, len(content), size))


def read(*layers: bytes, history: Sequence[Mapping[str, Any]] = (), names: Iterable[str] = ()) -> SavedImage:
    """An image of these layers, as any rule wants it."""
    wishes = [wish for rule in all_rules() for wish in rule.files]
    return read_saved_image(pieces(saved(*layers, history=history)), wanted(wishes, names), image=ID)


def subject(
    *layers: bytes,
    entrypoint: Sequence[str] = (),
    user: str = "",
    environment: Mapping[str, str] | None = None,
    profiles: Iterable[LaunchProfile] = (),
    job: JobFile | None = None,
    history: Sequence[Mapping[str, Any]] = (),
    **facts: Any,
) -> Subject:
    """The subject of a rule, with these layers in it."""
    found = read(*layers, history=history, names=[posixpath.basename(word) for word in entrypoint])
    known: dict[str, Any] = {
        "id": ID,
        "architecture": "amd64",
        "operating_system": "linux",
        "size": 0,
        "command": None,
        "working_directory": "",
        **facts,
    }
    return Subject(
        image="my-image",
        facts=ImageFacts(entrypoint=tuple(entrypoint) or None, user=user, environment=dict(environment or {}), **known),
        read=found.files,
        history=found.history,
        profiles=frozenset(profiles),
        job=job,
    )


def messages(rule: str, looked_at: Subject) -> list[str]:
    """The messages of a rule."""
    chosen = next(each for each in all_rules() if each.id == rule)
    return [finding.message for finding in chosen.check(looked_at)]

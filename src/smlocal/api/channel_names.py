"""Whether the channels and hyperparameters of flags and keywords are those of the request that they override."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from smlocal.errors import ChannelUnknownError

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document

_LIKENESS = 0.75
"""`trian` and `training` are like `train`; `metadata` is another name than `data`."""


def channel_names(document: "Document") -> list[str]:
    """The names of a request's channels, valid or not."""
    channels = document.data.get("InputDataConfig")
    found = [each.get("ChannelName") for each in (channels if isinstance(channels, list) else ()) if _is_map(each)]
    return [name for name in found if isinstance(name, str)]


def new_channels(document: "Document", given: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about the channels that `given` adds to a request with channels. A mistyped name is an error."""
    known = channel_names(document)
    for name in given if known else ():
        if name in known:
            continue
        near = _meant(name, known)
        if near is not None:
            raise ChannelUnknownError(
                f"{document.name} has no channel {name!r}",
                details=[f"Its channels: {', '.join(known)}"],
                remedy=[f"Did you mean {near}?", "If it is a new channel, write it into the request."],
            )
        yield f"channel {name} is added: {document.name} has {', '.join(known)}"


def new_hyperparameters(document: "Document", given: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about those that `given` adds beside one of almost the same name, which keeps its value."""
    written = document.data.get("HyperParameters")
    known = [name for name in written if isinstance(name, str)] if isinstance(written, dict) else []
    for name in given:
        near = None if name in known else _meant(name, known)
        if near is not None:
            yield f"hyperparameter {name} is added; did you mean {near}, which {document.name} has?"


def _meant(name: str, known: list[str]) -> str | None:
    """The name that was probably meant. Names that differ in their numbers are no mistakes: train-1 and train-2."""
    from smlocal.contract.validation.suggestions import closest

    near = closest(name, known, likeness=_LIKENESS)
    return None if near is None or _without_numbers(near) == _without_numbers(name) else near


def _without_numbers(name: str) -> str:
    return re.sub(r"[-_.]?\d+", "", name)


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)

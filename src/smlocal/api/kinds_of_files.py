"""The kinds of files: found by a look at their keys, and refused by commands that do not take them."""

import json
import os
from typing import Final

from smlocal.api.job_files import KINDS, file_named, kind_of, wrong_kind
from smlocal.base.regex import regex
from smlocal.jobfile.document import Document
from smlocal.jobs.kind import Kind
from smlocal.sagemaker.kinds import TRAINING

_LARGEST_LOOKED_AT: Final = 256 << 10
_TOP_KEY: Final = regex(r"(?m)^([\"']?)([A-Za-z]\w*)\1\s*:")


def kind_worded(word: str) -> Kind:
    """The kind with this word in options."""
    return next(kind for kind in KINDS if kind.word == word)


def kind_in_file(path: str) -> Kind | None:
    """The kind of a file by its top keys; None if it is not a job file, or too large.

    The file is not parsed, so a look at a folder is fast.
    """
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST_LOOKED_AT:
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    if text.lstrip()[:1] == "{":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return None
        keys = [*found]
    else:
        keys = [key for _, key in _TOP_KEY.findall(text)]
    kind = kind_of(dict.fromkeys(keys))
    return kind if kind is not TRAINING or TRAINING.sign in keys else None


def refuse_to_submit(document: Document) -> None:
    """Refuse a document of a kind that `smlocal submit` does not send."""
    kind = kind_of(document.data)
    if kind.on_service:
        on_service = f"On the service: {kind.on_service.replace('FILE', file_named(document))}"
        raise wrong_kind(
            document, kind, "smlocal submit sends training, processing and tuning jobs, and pipelines", on_service
        )

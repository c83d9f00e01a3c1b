"""Files of all kinds of jobs where a command looks for one, or takes only some."""

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
    """The kind that options name so."""
    return next(kind for kind in KINDS if kind.word == word)


def kind_in_file(path: str) -> Kind | None:
    """The kind of job that a file describes, by the keys at its top; None if it is none, or too large to look at.

    The file is not parsed, so that a folder is looked at in no time.
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
    """Refuse a document whose job smlocal does not send to the service."""
    kind = kind_of(document.data)
    if kind.on_service:
        on_service = f"On the service: {kind.on_service.replace('FILE', file_named(document))}"
        raise wrong_kind(document, kind, "smlocal submit sends training, processing and tuning jobs", on_service)

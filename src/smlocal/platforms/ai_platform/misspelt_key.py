"""A document that seems to lack the key that decides what it is, because that is misspelt."""

from smlocal.contract.validation.suggestions import closest
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.document import Document
from smlocal.jobfile.refusal import invalid_request
from smlocal.platforms.ai_platform.shape import JOB_SPEC, TRAINING_INPUT, WORKER_POOLS, camel

_LIKENESS = 0.75


def refuse_misspelt_key(document: Document) -> None:
    """Refuse a document with a key that is nearly one of this platform's. It has no key of another platform."""
    for key in document.data:
        meant = closest(camel(key), (TRAINING_INPUT, JOB_SPEC, WORKER_POOLS), likeness=_LIKENESS)
        if meant is not None:
            text = f"unknown key {key}: did you mean {meant}?"
            raise invalid_request(document, [Violation(path=(key,), text=text)])

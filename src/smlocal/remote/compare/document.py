"""A comparison as JSON."""

from typing import Any

from smlocal.remote.compare.differences import Comparison, Section
from smlocal.remote.compare.subject import Subject


def comparison_document(found: Comparison) -> dict[str, Any]:
    """What `smlocal compare --json` prints. Values are as the requests have them, secrets too."""
    return {
        "Version": 1,
        "Same": found.same,
        "A": _subject(found.a),
        "B": _subject(found.b),
        "Sections": {section.name: _section(section) for section in found.sections},
    }


def _subject(subject: Subject) -> dict[str, Any]:
    return {
        "Name": subject.title,
        "From": subject.origin,
        subject.status_member: None if subject.end is None else subject.end.status,
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        "Differences": [{"Path": each.path, "A": each.a, "B": each.b} for each in section.differences],
        "Same": section.same,
        "Counts": not section.measured,
        **({"NotCompared": section.unknown} if section.unknown else {}),
    }

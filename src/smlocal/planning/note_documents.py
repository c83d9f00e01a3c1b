"""The notes of a plan as JSON."""

from typing import Any

from smlocal.planning.model import JobPlan


def note_documents(plan: JobPlan) -> list[dict[str, Any]]:
    """The notes as JSON."""
    return [{"Id": note.id, "Text": note.text, "Warning": note.warning} for note in plan.notes]

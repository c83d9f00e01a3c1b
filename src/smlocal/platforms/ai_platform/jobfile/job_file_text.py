"""The job file of a job that the service has described."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smlocal.jobfile.yaml_text import one_line, yaml_text
from smlocal.platforms.ai_platform.comparison import is_answer, request_of_answer
from smlocal.platforms.ai_platform.shape import job_kind

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document


def job_file_text(document: "Document", *, file: str) -> str | None:
    """A job file that `smlocal run` takes, named `file`; None if the document is one already."""
    if not is_answer(document.data):
        return None
    request = {name: value for name, value in request_of_answer(document.data).items() if value is not None}
    return "".join(f"{line}\n" for line in _head(document, file)) + yaml_text(request)


def _head(document: "Document", file: str) -> Iterator[str]:
    answer = document.data
    kind = job_kind(answer).spoken
    named = next((str(answer[each]) for each in ("name", "jobId") if answer.get(each)), "of another name")
    yield f"# A {kind}. Run it here:  smlocal run {one_line(file)}"
    yield f"# See what a run would do:  smlocal plan {one_line(file)}"
    yield "#"
    yield one_line(f"# As the {kind} {named}: {answer['state']}.")
    yield ""

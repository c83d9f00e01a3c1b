"""What `smlocal run` tells a CI service about the end of its job."""

from smlocal.base.ci.reports import limited, table
from smlocal.base.ci.services import Annotation, CiService, Level
from smlocal.cli.ci_messages import add_summary, annotate, file_of_repository
from smlocal.jobs.view import JobView
from smlocal.terms.statuses import JobStatus


def annotate_job(service: CiService, view: JobView, file: str | None) -> None:
    """Report how a job ended."""
    if view.status is not JobStatus.COMPLETED:
        because = [f"because: {view.local['Explanation']}"] if view.local["Explanation"] else []
        hints = (f"hint: {hint}" for hint in view.local["Hints"])
        text = "\n".join((view.reason or view.ended_as, *because, *hints))
        annotate(
            service,
            [
                Annotation(
                    level=Level.ERROR,
                    title=f"job {view.name}: {view.ended_as}",
                    message=text,
                    file=file_of_repository(file),
                )
            ],
        )
    head = ("job", "status", "seconds", "failure reason")
    row = (view.name, view.state, f"{view.seconds:.1f}", view.reason)
    add_summary(service, limited([table(head, [row])]))

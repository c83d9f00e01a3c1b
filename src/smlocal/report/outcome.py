"""The top of the page: how the job ended and why, before anything else."""

from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.report.facts import Facts
from smlocal.report.markup import escaped, items, pairs
from smlocal.report.words import moment, span, whole_span


def outcome(facts: Facts) -> str:
    """Name, status, reason and what is known beside it."""
    return "\n".join(part for part in _parts(facts) if part)


def in_short(facts: Facts) -> str:
    """The outcome in one line of text."""
    answer = facts.answer
    status = answer["TrainingJobStatus"]
    if facts.running:
        return f"{status}, {span(facts.made - answer['CreationTime'])} so far"
    seconds = span(answer["LastModifiedTime"] - answer["CreationTime"])
    return f"{status} {'in' if status == 'Completed' else 'after'} {seconds}"


def _parts(facts: Facts) -> Iterator[str]:
    answer = facts.answer
    local, status = answer["Local"], answer["TrainingJobStatus"]
    yield f'<p class="kind">Training job</p>\n<h1>{escaped(answer["TrainingJobName"])}</h1>'
    yield f'<p class="outcome {escaped(status.lower())}">{escaped(in_short(facts))}</p>'
    if facts.running:
        yield (
            f'<p class="running">This job was still running when this page was made, at {moment(facts.made)}: '
            f"{escaped(answer['SecondaryStatus'])}. What follows is what was known by then.</p>"
        )
    elif answer["SecondaryStatus"] != status:
        yield f'<p class="why">{escaped(answer["SecondaryStatusTransitions"][-1]["StatusMessage"])}</p>'
    if answer.get("FailureReason"):
        yield f'<pre class="reason">{escaped(answer["FailureReason"])}</pre>'
    if local.get("Explanation"):
        yield f"<p>Because: {escaped(local['Explanation'])}</p>"
    yield "".join(f"<p>Hint: {escaped(hint)}</p>" for hint in local.get("Hints", ()))
    yield f'<dl class="facts">{pairs(_facts(facts))}</dl>'
    if local.get("Leftovers"):
        yield "<p>Could not be cleaned up:</p>" + items(local["Leftovers"])


def _facts(facts: Facts) -> Iterator[tuple[str, str]]:
    answer = facts.answer
    local = answer["Local"]
    resources = answer.get("ResourceConfig") or {}
    image = (answer.get("AlgorithmSpecification") or {}).get("TrainingImage")
    if resources.get("InstanceType"):
        yield "Instances", escaped(f"{resources.get('InstanceCount', 1)} × {resources['InstanceType']}")
    yield "Created", moment(answer["CreationTime"])
    if "TrainingTimeInSeconds" in answer:
        yield "Trained", whole_span(answer["TrainingTimeInSeconds"])
    if answer.get("BillableTimeInSeconds") != answer.get("TrainingTimeInSeconds"):
        yield "Billable", whole_span(answer["BillableTimeInSeconds"])
    if local.get("Attempts", 1) > 1:
        counts = [f"{local[name]} {name.lower()}" for name in ("Interruptions", "Retries") if local.get(name)]
        yield "Attempts", escaped(f"{local['Attempts']} ({', '.join(counts)})")
    if local.get("Hosts"):
        yield (
            "Exit" if len(local["Hosts"]) == 1 else "Exits",
            "<br>".join(escaped(_end(host)) for host in local["Hosts"]),
        )
    if image:
        yield "Image", escaped(image)
    yield "ARN", escaped(answer["TrainingJobArn"])


def _end(host: Mapping[str, Any]) -> str:
    code = "did not run" if host.get("ExitCode") is None else f"exit {host['ExitCode']}"
    said = [
        word
        for key, word in (("OomKilled", "out of memory"), ("Killed", "killed"), ("Signalled", "after SIGTERM"))
        if host.get(key)
    ]
    return f"{host['Name']} {', '.join([code, *said[:1]])}"

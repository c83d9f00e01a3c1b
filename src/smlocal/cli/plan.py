"""`smlocal plan`: what a run would do, from the very object that it would execute."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.job_options import job_options, read_job_options

if TYPE_CHECKING:
    from smlocal.plan.model import HostPlan, JobPlan, TreePlan

_COLUMN = 13
_FILE_COLUMN = 38
_SHOWN_BYTES = 600


@click.command("plan")
@job_options
@click.option("--json", "as_json", is_flag=True, help="The whole plan as one JSON document.")
@click.option("--script", is_flag=True, help="Only a shell script that does the same by hand.")
def command(*, as_json: bool, script: bool, **given: Any) -> None:
    """Show what a run would do, and where it differs from the service. Nothing is run, pulled or written."""
    job, name = read_job_options(given)

    from smlocal.engine.docker import connect
    from smlocal.job.prepare import look
    from smlocal.plan.script import shell_script
    from smlocal.store.home import home_directory

    plan = look(job, name=name, home=home_directory(), engine=connect(), strict=given["strict"])
    if as_json:
        import json

        from smlocal.plan.document import plan_document

        click.echo(json.dumps({**plan_document(plan), "Script": shell_script(plan)}, indent=2))
    elif script:
        click.echo(shell_script(plan), nl=False)
    else:
        for line in _lines(plan):
            click.echo(line)
        click.echo("By hand, as a script for sh")
        click.echo("".join(f"  {line}" for line in shell_script(plan).splitlines(keepends=True)), nl=False)


def _lines(plan: "JobPlan") -> Iterator[str]:
    yield _row("Job", plan.name)
    yield _row("", plan.arn)
    yield _row("Image", _image(plan))
    where = f"on the job's own network {plan.network}" if plan.network else "on the engine's default network"
    names = ", ".join(host.host.name for host in plan.hosts)
    gpus = f", {plan.gpus} GPUs each" if plan.gpus else ""
    yield _row("Hosts", f"{names} ({plan.hosts[0].host.instance_type}{gpus}) {where}")
    yield _row("Request", _compact(dict(plan.request)))
    for host in plan.hosts:
        yield from _tree(plan, host)
    environment = plan.hosts[0].environment
    for index, (name, value) in enumerate(environment.items()):
        yield _row("Environment" if index == 0 else "", f"{name}={value}")
    stop = plan.stop
    yield _row("Stops", f"after {stop.max_runtime} s; SIGTERM, {stop.grace} s, SIGKILL")
    yield _row("Output", f"{plan.output.directory}/output")
    warnings = [note for note in plan.notes if note.warning]
    if warnings:
        yield "Warnings"
        yield from (_row("", f"{note.text}  [{note.id}]") for note in warnings)
    yield "Not as on the service"
    yield from (_row("", f"{note.text}  [{note.id}]") for note in plan.notes if not note.warning)


def _row(name: str, text: str) -> str:
    return f"{name:<{_COLUMN}}{text}"


def _image(plan: "JobPlan") -> str:
    from smlocal.job.sizes import readable_bytes

    facts = plan.image_facts
    if facts is None:
        return f"{plan.image} (not here)"
    runs = " + ".join(
        part
        for part in (
            " ".join(plan.entrypoint) if plan.entrypoint is not None else "ENTRYPOINT" if facts.entrypoint else "",
            " ".join(plan.command or ()),
        )
        if part
    )
    platform = f"{facts.operating_system}/{facts.architecture}"
    return f"{plan.image} (here, {platform}, {readable_bytes(facts.size)})   runs: {runs}"


def _tree(plan: "JobPlan", host: "HostPlan") -> Iterator[str]:
    yield _row("/opt/ml", host.host.name if len(plan.hosts) > 1 else "")
    channels = {tree.target: tree for tree in (*host.channels, *([plan.code] if plan.code is not None else []))}
    entries = {**dict.fromkeys(host.directories, ""), **{path: _content(text) for path, text in host.files.items()}}
    entries.update({target: _channel(tree) for target, tree in channels.items()})
    for path, text in sorted(entries.items()):
        yield _row("", f"{path.removeprefix('/opt/ml/'):<{_FILE_COLUMN}} {text}".rstrip())


def _channel(tree: "TreePlan") -> str:
    how = "copy-on-write of" if tree.staging == "overlay" else "copy of"
    count = len(tree.listing.paths)
    reason = f": {tree.reason}" if tree.reason else ""
    return f"{how} {tree.listing.root} ({count} file{'s' * (count != 1)}){reason}"


def _content(content: bytes) -> str:
    """A short file whole, a long one as head, count and digest."""
    from smlocal.plan.document import file_document

    document = file_document(content)
    text = document.get("Content")
    if text is None:
        size = f"{document['Lines']} lines, {document['Bytes']} bytes"
        return f"{size}, sha256 {document['Sha256'][:12]}…: {document['Head'][0]} …"
    return " ⏎ ".join(text.splitlines()) if len(content) <= _SHOWN_BYTES else f"{len(content)} bytes: {text[:60]}…"


def _compact(document: Any) -> str:
    import json

    return json.dumps(document, ensure_ascii=False)

"""`smlocal plan`: show what a run would do, from the object that it would execute."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.job_argument import completed_jobs
from smlocal.cli.job_options import job_options, overrides_and_defaults, read_job_options, said
from smlocal.cli.terminal.columns import LEAST, row, short_path, width_of
from smlocal.cli.terminal.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from smlocal.contract.gpus import GpuDevices
    from smlocal.contract.listing import Listing
    from smlocal.planning.model import HostPlan, JobPlan, PipePlan, TreePlan
    from smlocal.planning.rules import RulePlan
    from smlocal.platforms.job_files import AnyJobFile

_COLUMN = 13
_FILE_COLUMN = 38
_LEAST_BESIDE = 48
"""Columns beside the path of a file; on a narrower terminal its content is below the path."""
_BELOW = 15
_LINE = 160
_NAMED = 8
_SHOWN_BYTES = 300


@click.command("plan")
@job_options
@click.option("--recorded", metavar="NAME", shell_complete=completed_jobs, help="Plan the request of an earlier job.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole plan as one JSON document.")
@click.option("--script", is_flag=True, help="Print only a bash script of docker commands that does the same.")
@click.option(
    "--try-line", "texts", multiple=True, metavar="TEXT", help="Test MetricDefinitions on a log line; repeatable."
)
def command(*, recorded: str | None, as_json: bool, script: bool, texts: tuple[str, ...], **given: Any) -> None:
    """Show what a run would do and how it differs from the service.

    Nothing is run or pulled, and no job is created.
    """
    if as_json and script:
        raise click.UsageError("--json and --script cannot be used together: the document includes the script.")
    job, name = read_job_options(given) if recorded is None else _read_recorded(recorded, given)

    from smlocal.api.execution import plan_only
    from smlocal.platforms.sagemaker.planning.script import shell_script

    plan = plan_only(job, name=name, strict=given["strict"])
    tried = _tried(plan, texts)
    if as_json:
        import json

        from smlocal.platforms.sagemaker.planning.document import plan_document

        document = {**plan_document(plan), **({"TriedLines": tried} if tried else {}), "Script": shell_script(plan)}
        click.echo(json.dumps(document, indent=2))
    elif script:
        click.echo(shell_script(plan), nl=False)
    else:
        _print_rows(_rows(plan))
        if tried:
            from smlocal.cli.views.metric_lines import tried_rows

            _print_rows(tried_rows(tried))
        _print_rows([("By hand", "smlocal plan --script prints this job as a script of docker commands")])


def _read_recorded(recorded: str, given: dict[str, Any]) -> "tuple[AnyJobFile, str]":
    from smlocal.api.job_names import resolve_job_name
    from smlocal.api.recorded_job import read_recorded

    if given["job"] is not None:
        raise click.UsageError("--recorded names an earlier job; a job file cannot be given with it.")
    recorded = resolve_job_name(recorded)
    overrides, defaults = overrides_and_defaults(given)
    return read_recorded(
        recorded, overrides, defaults=defaults, members={}, strict=given["strict"], on_message=said(given)
    )


def _print_rows(rows: "Iterable[tuple[str, str]]") -> None:
    from smlocal.contract.secrets.urls import without_passwords

    width = width_of(sys.stdout)
    for head, text in rows:
        shown, beside = printable(without_passwords(text)), printable(without_passwords(f"{head:<{_COLUMN}}"))
        of_a_file = len(beside) > _COLUMN
        for line in row(
            beside,
            shown,
            width=width,
            narrow=_BELOW,
            least=_LEAST_BESIDE if of_a_file else LEAST,
            break_words=of_a_file,
        ):
            click.echo(line)


def _tried(plan: "JobPlan", texts: tuple[str, ...]) -> list[dict[str, Any]]:
    if not texts:
        return []
    from smlocal.cli.views.metric_lines import tried_lines
    from smlocal.platforms.sagemaker.contract.metric_definitions import definitions_of

    if not definitions_of(plan.request):
        raise click.UsageError("--try-line needs MetricDefinitions, and the request has none.")
    return tried_lines(plan.request, texts)


def _rows(plan: "JobPlan") -> Iterator[tuple[str, str]]:
    """Heads, and the texts beside them."""
    yield "Job", plan.name
    yield "", plan.arn
    yield "Image", _image(plan)
    warnings = [note for note in plan.notes if note.warning]
    if warnings:
        yield "Warnings", ""
        yield from (("", f"{note.text}  [{note.id}]") for note in warnings)
    yield "Differences from the service", ""
    yield from (("", f"{note.text}  [{note.id}]") for note in plan.notes if not note.warning)
    yield "Hosts", f"{_names(plan)} ({', '.join(_kinds(plan))}) {_where(plan)}"
    yield from _devices(plan)
    yield from _limits(plan)
    yield "Request", _request(plan)
    yield from _tree(plan)
    yield from _environment(plan)
    yield from (("" if index else "Rules", _rule(rule)) for index, rule in enumerate(plan.rules))
    stop = plan.stop
    yield "Stops", f"after {stop.max_runtime} s; SIGTERM, {stop.grace} s, SIGKILL"
    yield "Output", short_path(f"{plan.output.directory}/output")


def _rule(rule: "RulePlan") -> str:
    """A debugger rule, and what evaluates it beside the job."""
    from smlocal.platforms.sagemaker.planning.rules import INVOKED

    invoked = rule.parameters.get(INVOKED, "")
    if rule.image is not None:
        return f"{rule.name}: the image {rule.image}"
    if rule.source is not None:
        source = rule.source if rule.source.startswith("s3://") else short_path(rule.source)
        return f"{rule.name}: {invoked} of {source}"
    return f"{rule.name}: {invoked}, {'not evaluated' if rule.recorded or rule.unknown else 'built in'}"


def _names(plan: "JobPlan") -> str:
    names = [host.host.name for host in plan.hosts]
    return ", ".join(names) if len(names) <= _NAMED else f"{names[0]} to {names[-1]}"


def _where(plan: "JobPlan") -> str:
    if plan.network is None:
        return "on the engine's default network"
    own = f"on the job's own network {plan.network.name}, {plan.network.subnet}"
    return f"{own}, isolated" if plan.network.isolated else own


def _kinds(plan: "JobPlan") -> list[str]:
    """The instance types, each once, with the GPUs of a host."""
    kinds = {host.host.instance_type: host.devices for host in plan.hosts}
    return [kind + ("" if devices is None else f", {_gpus(devices)} each") for kind, devices in kinds.items()]


def _gpus(devices: "GpuDevices") -> str:
    count = len(devices.ids)
    return f"{count or 'all'} GPU{'s' * (count != 1)}"


def _devices(plan: "JobPlan") -> Iterator[tuple[str, str]]:
    """The GPUs and Neuron devices of each host."""
    means = "CDI devices" if plan.machine.gpus.cdi else "a device request"
    shown = [
        f"{host.host.name}: {', '.join(host.devices.ids) or 'all'}" for host in plan.hosts if host.devices is not None
    ]
    if shown:
        yield "GPUs", f"{'; '.join(shown)} (by {means})"
    neuron = [f"{host.host.name}: {', '.join(host.neuron)}" for host in plan.hosts if host.neuron]
    if neuron:
        yield "Neuron", "; ".join(neuron)


def _limits(plan: "JobPlan") -> Iterator[tuple[str, str]]:
    """The limits of the containers, for each instance type once."""
    from smlocal.platforms.sagemaker.planning.document import limits_document

    shown = {host.host.instance_type: limits_document(host.limits) for host in plan.hosts}
    for kind, limits in shown.items():
        if limits:
            yield "Limits", f"{kind}: {', '.join(f'{name} {_limit(limit)}' for name, limit in limits.items())}"


def _limit(value: Any) -> str:
    from smlocal.readable import readable_bytes

    if isinstance(value, dict):
        return ", ".join(f"{name} {soft}:{hard}" for name, (soft, hard) in value.items())
    return readable_bytes(value) if isinstance(value, int) else f"{value:g}"


def _image(plan: "JobPlan") -> str:
    from smlocal.contract.secrets.masking import masked_words
    from smlocal.readable import readable_bytes

    facts = plan.image_facts
    if facts is None:
        return f"{plan.image} (not here)"
    runs = " + ".join(
        part
        for part in (
            " ".join(masked_words(plan.entrypoint))
            if plan.entrypoint is not None
            else "ENTRYPOINT"
            if facts.entrypoint
            else "",
            " ".join(masked_words(plan.command or ())),
        )
        if part
    )
    platform = f"{facts.operating_system}/{facts.architecture}"
    return f"{plan.image} (here, {platform}, {readable_bytes(facts.size)})   runs: {runs}"


def _request(plan: "JobPlan") -> str:
    """The request in one line, without secrets, shortened if it is long."""
    import json

    from smlocal.contract.secrets.masking import masked_request

    text = json.dumps(masked_request(plan.request), ensure_ascii=False)
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…\nfull text: smlocal plan --json"


def _environment(plan: "JobPlan") -> Iterator[tuple[str, str]]:
    """The variables of the first host, and those of other hosts that differ."""
    from smlocal.contract.secrets.masking import masked

    first, *others = plan.hosts
    shown = [("Environment", first.environment)]
    for host in others:
        differing = {n: v for n, v in host.environment.items() if first.environment.get(n) != v}
        shown.append((f"  {host.host.name}", differing))
    for head, variables in shown:
        for index, (name, value) in enumerate(variables.items()):
            yield head if index == 0 else "", f"{name}={_one_line(masked(name, value))}"


def _tree(plan: "JobPlan") -> Iterator[tuple[str, str]]:
    """The files of the first host, and those of other hosts that differ."""
    first, *others = plan.hosts
    entries = _entries(plan, first)
    column = max(_FILE_COLUMN, *(len(path) for path in entries))
    yield from _listing("/opt/ml", entries, column)
    for host in others:
        # The content is compared: the part of long files that is shown may be the same.
        same = {path.removeprefix("/opt/ml/") for path, c in host.files.items() if first.files.get(path) == c}
        differing = {
            path: text
            for path, text in _entries(plan, host).items()
            if path not in same and (entries.get(path) != text or f"/opt/ml/{path}" in host.files)
        }
        yield from _listing(f"  {host.host.name}", differing, column)


def _listing(head: str, entries: "Mapping[str, str]", column: int) -> Iterator[tuple[str, str]]:
    for index, (path, text) in enumerate(sorted(entries.items())):
        yield f"{head if index == 0 else '':<{_COLUMN}}{path:<{column}} ", text


def _entries(plan: "JobPlan", host: "HostPlan") -> dict[str, str]:
    from smlocal.platforms.sagemaker.contract import paths

    code = [plan.code] if plan.code is not None else []
    output = short_path(f"{plan.output.directory}/output")
    model = "model/" if plan.output.compression == "NONE" else "model.tar.gz"
    mount = "bind mount" if plan.engine.local else "engine volume"
    entries = {
        **dict.fromkeys(host.directories, "empty"),
        paths.INPUT: f"{mount} of a new folder",
        paths.OUTPUT: f"{mount} of a new folder",
        **{path: _content(path, text) for path, text in host.files.items()},
        **{tree.target: _channel(tree) for tree in (*host.channels, *code)},
        **{f"{pipe.target}_0": _pipe(pipe) for pipe in host.pipes},
        paths.MODEL: f"{mount} of a new folder, collected to {output}/{model}",
        paths.OUTPUT_DATA: f"empty, collected to {output}/output.tar.gz",
        paths.FAILURE: "read if the host fails",
    }
    if plan.checkpoints is not None:
        saved = plan.checkpoints.s3_prefix or short_path(plan.checkpoints.directory)
        count = len(plan.checkpoints.listing.paths)
        entries[plan.checkpoints.local_path] = (
            f"{mount} with {_files(count)} of {plan.checkpoints.uri}, mirrored to {saved}"
            if plan.checkpoints.listing.remote
            else f"{mount} with {_files(count)} of {saved}, mirrored there"
        )
    for each in plan.collectors:
        entries[each.local_path] = f"empty, mirrored to {each.s3_prefix or short_path(each.directory)}"
    for full in (paths.CONFIG, paths.DATA):
        entries.pop(full, None)
    return {path.removeprefix(f"{paths.ROOT}/"): text for path, text in entries.items()}


_HOW = {
    "overlay": "copy-on-write of",
    "copy": "copy of",
    "bind": "read-only view of",
    "send": "engine volume, uploaded from",
    "fuse": "read-only view, fetched on read, of",
}


def _channel(tree: "TreePlan") -> str:
    """How a channel's data gets there, and which files they are."""
    if tree.mode == "FileSystem":
        return f"{short_path(tree.listing.root)} itself, {'rw' if tree.writable else 'ro'}"
    how = "downloaded, then " if tree.listing.remote and tree.staging != "fuse" else ""
    return f"{how}{_HOW[tree.staging]} {_what(tree.listing)}{f': {tree.reason}' if tree.reason else ''}"


def _pipe(pipe: "PipePlan") -> str:
    """What the FIFOs of a channel deliver."""
    way = ["Gzip" * pipe.gzip, "RecordIO" * pipe.record_io]
    way += [f"shuffled by {pipe.seed}" if pipe.seed is not None else "", ", ".join(pipe.attributes)]
    if pipe.shard.count > 1:
        way.append(f"shard {pipe.shard.index + 1} of {pipe.shard.count}")
    extra = "; ".join(filter(None, way))
    return f"one FIFO per epoch, of {_what(pipe.listing)}{f' ({extra})' if extra else ''}"


def _what(listing: "Listing") -> str:
    count = len(listing.paths)
    if listing.remote:
        return f"{listing.bucket_uri}{listing.prefix} ({_files(count, 'object')})"
    root = short_path(listing.root)
    if listing.whole_tree:
        return f"{root} ({_files(count)})"
    return f"{root}/{listing.paths[0]}" if count == 1 else f"{_files(count)} in {root}"


def _files(count: int, kind: str = "file") -> str:
    return f"{count} {kind}{'s' * (count != 1)}"


def _content(path: str, content: bytes) -> str:
    """A short file completely, a long one as its first line, size and digest. The text is without secrets."""
    from smlocal.contract.secrets.masking import masked_file
    from smlocal.platforms.sagemaker.planning.document import file_document

    document = file_document(content)
    shown = file_document(masked_file(path, content))
    text = shown.get("Content")
    if text is None:
        text = shown["Head"][0]
    if "Content" not in document:
        size = f"{document['Lines']} lines, {document['Bytes']} bytes"
        return f"{size}, sha256 {document['Sha256'][:12]}…: {_one_line(text)} …"
    return _one_line(text) if len(content) <= _SHOWN_BYTES else f"{len(content)} bytes: {_one_line(text[:60])}…"


def _one_line(text: str) -> str:
    return " ⏎ ".join(text.splitlines())

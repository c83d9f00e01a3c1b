"""The plan as docker commands: a bash script to read, to run by hand, to send to a colleague.

A job that one `docker run` can start again has that command too.
"""

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from shlex import quote

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.data_parallel.package import SOURCE
from smlocal.jobs.debugging.package import SOURCE as DEBUGGING
from smlocal.jobs.planning.aspects.accelerators.show import device_options
from smlocal.jobs.planning.aspects.data_parallel.plan import PACKAGE
from smlocal.jobs.planning.aspects.debugging import plan as debugging
from smlocal.jobs.planning.aspects.debugging.show import debug_options
from smlocal.jobs.planning.aspects.limits.show import limit_options, ulimit_options
from smlocal.jobs.planning.aspects.mirrored.show import checkpoint_commands, collector_commands
from smlocal.jobs.planning.aspects.network.show import (
    joining_commands,
    naming_options,
    network_commands,
    place_differences,
)
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker.contract import paths
from smlocal.terms.channels import TreePlan
from smlocal.terms.json_size import compact
from smlocal.terms.masking import masked, masked_file, masked_words, with_strings

_MANY = 1000
"""The most objects that are copied one by one, and the most lines of a manifest."""
_VARIABLES = "variables"
"""The file of environment variables beside the input."""
_INPUT = f"{paths.INPUT}/"

_START = r"""
ours=(--filter "label=smlocal.job=$job" --filter "name=by-hand-$job")
clean() {
  docker ps -aq "${ours[@]}" | xargs -r docker rm -fv
  docker network ls -q "${ours[@]}" | xargs -r docker network rm
  wait; rm -rf "${TMPDIR:-/tmp}/by-hand-$job".??????
} >/dev/null
put() {  # HOST FOLDER: copy into a volume of a container; everything belongs to root
  tar -C "$1/${2#/opt/ml/}" --owner=0 --group=0 -c . | docker cp - "by-hand-$job-$1:$2"
}
pack() {  # FOLDER ARCHIVE: no archive of an empty folder
  [ -z "$(ls -A "$1")" ] || (cd "$1" && find . -mindepth 1 -printf '%P\0' | LC_ALL=C sort -z |
    tar --null --no-recursion -T - --owner=0 --group=0 -cz) >"$2"
}
stop() { docker ps -q "${ours[@]}" | xargs -r docker stop -t "$1" >/dev/null || :; }
ended() {  # when, host and exit code, first end first
  for h in $hosts; do
    docker inspect -f "{{.State.FinishedAt}} $h {{.State.ExitCode}}" "by-hand-$job-$h"
  done | sort
}

clean  # an earlier run of this script may have been killed
trap 's=$?; trap "" INT TERM HUP; clean; exit $s' EXIT; trap 'exit 130' INT; trap 'exit 143' TERM HUP
cd "$(mktemp -d "${TMPDIR:-/tmp}/by-hand-$job.XXXXXX")"
""".strip()

_NO_NETWORKS = """
  docker network ls -q "${ours[@]}" | xargs -r docker network rm"""

_RUN = r"""
# Run all hosts to their end.
SECONDS=0 over=
for h in $hosts; do docker start -a "by-hand-$job-$h"ATTACHED & done
while [ "$(jobs -rp)" ]; do
  sleep 0.2
  if ((SECONDS > max_runtime)); then
    over=yes; stop "$grace"
  elif ended | grep -v ' 0$' >/dev/null; then
    stop "$peer_grace"  # a host has failed
  fi
done

# What SageMaker would upload.
umask "$u"
for h in $hosts; do
  mkdir -p model data "from/$h/output"
  docker cp "by-hand-$job-$h:/opt/ml/model/." model
  docker cp "by-hand-$job-$h:/opt/ml/output/." "from/$h/output"
done
""".strip()

_COLLECT = r"""
  data=from/$h/output/data
  if [ -d "$data" ] && [ ! -h "$data" ]; then cp -a "$data/." data/; fi
done
""".strip("\n")

_END = r"""
status=0
while read -r _ h code; do
  echo "$h exited $code" >&2
  [ "$code" = 0 ] || [ "$status" != 0 ] || status=$code failure=from/$h/output/failure
done < <(ended)
[ ! "$over" ] || { echo "MaxRuntimeInSeconds reached" >&2; exit 124; }
if [ "$status" != 0 ] && [ -f "$failure" ] && [ ! -h "$failure" ]; then head -c 1024 "$failure" >&2; fi
exit "$status"
""".strip()


def shell_script(plan: JobPlan) -> str:
    """A script that works in a temporary folder and puts the results where the run would put them."""
    hosts = [host.host.name for host in plan.hosts]
    secrets = ScriptSecrets({name for host in plan.hosts for name in host.environment})
    steps = [line for host in plan.hosts for line in _host(plan, host, secrets)]  # first: they collect the secrets
    zipped = plan.output.compression != "NONE"
    lines = [
        "#!/usr/bin/env bash",
        "# This job as docker commands, for bash and GNU tools. Exits with the code of the first host that fails,",
        "# or with 124 after MaxRuntimeInSeconds. Removes everything that it makes, except for the results.",
        *map(comment, _differences(plan)),
        "set -euo pipefail",
        f"job={quote(plan.name)} hosts={quote(' '.join(hosts))}",
        f"results={quote(plan.output.directory)}",
        f"max_runtime={plan.stop.max_runtime} grace={plan.stop.grace} peer_grace={plan.stop.peer_grace}",
        *([f"export DOCKER_HOST={quote(plan.engines.first.address)}"] if plan.engines.first.named else []),
        *secrets.required(),
        *_refusal(plan),
        _start(plan),
        *network_commands(plan),
        *checkpoint_commands(plan),
        "u=$(umask); umask 022",
        *steps,
        "",
        _RUN.replace("ATTACHED", ' 2>&1 | sed -u "s/^/$h | /"' if len(hosts) > 1 else ""),
        f"for h in {'$hosts' if plan.output.merge_output else quote(hosts[0])}; do",
        _COLLECT,
        'mkdir -p "$results/output"',
        'pack model "$results/output/model.tar.gz"' if zipped else 'cp -a model "$results/output/"',
        'pack data "$results/output/output.tar.gz"',
        *collector_commands(plan),
        _END,
    ]
    return "\n".join(lines) + "\n"


def _start(plan: JobPlan) -> str:
    """In a place, networks cannot be listed, and only folders of the home can be mounted."""
    if plan.engines.first.place is None:
        return _START
    return _START.replace(_NO_NETWORKS, "").replace("${TMPDIR:-/tmp}", "$HOME")


def comment(text: str) -> str:
    """A line that the shell skips. Text of a user belongs in quotes, not here; it is one line in any case."""
    return f"# {' '.join(text.split())}"


def _differences(plan: JobPlan) -> Iterator[str]:
    """How the script differs from the run, where it concerns this job."""
    yield "Not done: interruptions, retries, MaxWaitTimeInSeconds."
    yield from place_differences(plan)
    read_only = [_name(tree) for tree in plan.trees if is_mounted(tree) and tree.staging == "overlay"]
    if read_only:
        yield f"Mounted read-only, where a run lets the container write: {', '.join(read_only)}."
        yield "With --staging copy they are copied, and can be written."
    long = [_name(tree) for tree in plan.trees if tree.mode == "File" and len(tree.listing.paths) > _MANY]
    if long:
        yield f"Not written because of its length: the manifest of {', '.join(long)}."
    if plan.mirrored.checkpoints is not None:
        yield "All hosts share the mounted folder of the checkpoints, and files written there belong to their user."
    if plan.mirrored.published:
        yield f"Not uploaded to S3: the files of {', '.join(member for member, _ in plan.mirrored.published)}."
    if plan.mirrored.collectors:
        yield f"Saved at the end only: the files of {', '.join(each.member for each in plan.mirrored.collectors)}."
    if plan.output.publish:
        yield 'Nothing is uploaded: aws s3 cp --recursive "$results/output" has to follow.'
    if plan.credentials is not None:
        yield "The containers get no credentials."
    yield from _data_parallel_differences(plan)
    if any(host.limits.disk is not None for host in plan.hosts):
        yield "The size of the volume is not limited."
    if plan.request.get("AlgorithmSpecification", {}).get("MetricDefinitions"):
        yield "Metrics are not extracted from the output."


def _name(tree: TreePlan) -> str:
    """The name of a channel, which the service restricts, for a comment."""
    return tree.name if re.fullmatch(r"[A-Za-z0-9._-]+", tree.name) else "a channel"


def _data_parallel_differences(plan: JobPlan) -> Iterator[str]:
    if plan.data_parallel is not None:
        yield "The records of the data parallel library are not kept, and Local.DataParallel: strict is not enforced."


def no_script(plan: JobPlan) -> str | None:
    """Why docker commands cannot do what the job needs; None if they can."""
    reasons = [] if plan.engines.first.shares_folders else ["the engine does not see the folders of this machine"]
    reasons += [f"its hosts run on {len(plan.engines.several)} engines"] if plan.engines.several else []
    reasons += [f"{pipe.name} is a Pipe channel" for pipe in plan.pipes]
    for tree in plan.trees:
        if tree.listing.failure is not None:
            reasons.append(f"{tree.name} cannot be downloaded: {tree.listing.failure}")
        elif not is_mounted(tree) and not _is_one_copy(tree) and len(tree.listing.paths) > _MANY:
            reasons.append(f"{tree.name} has too many single objects")
    if plan.mirrored.checkpoints is not None and plan.mirrored.checkpoints.listing.failure is not None:
        reasons.append(f"the checkpoints cannot be downloaded: {plan.mirrored.checkpoints.listing.failure}")
    return f"this job needs smlocal run: {'; '.join(reasons)}" if reasons else None


def _refusal(plan: JobPlan) -> Iterator[str]:
    """A line that ends the script at its beginning."""
    why = no_script(plan)
    if why is not None:
        yield f"echo {quote(why)} >&2; exit 3"


_OPEN, _CLOSE = "\ue000", "\ue001"
"""Mark the name of a variable in a JSON document; private-use characters."""
_VARIABLE = "[A-Za-z_][A-Za-z0-9_]*"
_TO_JSON = (
    r"""json() { printf %s "$1" | sed -z 's/[\\"]/\\&/g; s/\n/\\n/g; s/\r/\\r/g; s/\t/\\t/g'; }  # as a JSON string"""
)


class ScriptSecrets:
    """Writes values as words of a shell script, and collects the variables that replace secrets."""

    def __init__(self, environment: Collection[str]) -> None:
        """Take the names of the containers' variables, which no other value may get."""
        self._taken = set(environment)
        self._of_environment: list[str] = []
        self._of_files: dict[tuple[str, str], str] = {}
        self._of_command: list[str] = []

    def required(self) -> list[str]:
        """Lines that end the script if a secret used so far is not set."""
        others = [*self._of_files.values(), *self._of_command]
        lines = [f': "${{{name}:?}}"; export {name}' for name in self._of_environment]
        lines += [f': "${{{name}:?}}"' for name in others]
        if lines:
            lines.insert(
                0, f"# Secrets are not included. Set these first: {' '.join([*self._of_environment, *others])}"
            )
        return [*lines, _TO_JSON] if self._of_files else lines

    def variable(self, name: str, value: str) -> str:
        """The argument of `docker create -e`; docker reads a name without a value from its own environment."""
        if not _is_secret(name, value):
            return quote(f"{name}={value}")
        if not re.fullmatch(_VARIABLE, name):  # the service has no such names
            return quote(name)
        if name not in self._of_environment:
            self._of_environment.append(name)
        return name

    def file(self, path: str, content: bytes) -> str:
        """The content of a file."""
        text = content.decode(errors="surrogateescape")
        if not path.endswith(".json"):
            return quote(text)
        marked = compact(with_strings(json.loads(content), self._marked)).decode(errors="surrogateescape")
        # Only texts that were marked here: the characters may be in a value, with anything between them.
        names = "|".join(self._of_files.values())
        pieces = re.split(f"{_OPEN}({names}){_CLOSE}", marked) if names else [marked]
        if len(pieces) == 1:
            return quote(text)
        return "".join(f'"$(json "${piece}")"' if index % 2 else quote(piece) for index, piece in enumerate(pieces))

    def command(self, words: Sequence[str]) -> list[str]:
        """Entrypoint and arguments."""
        written = []
        for index, (word, shown) in enumerate(zip(words, masked_words(words), strict=True)):
            if word == shown:
                written.append(quote(word))
            else:
                self._of_command.append(f"ARGUMENT_{index}")
                written.append(f'"$ARGUMENT_{index}"')
        return written

    def _marked(self, name: str, value: str) -> str:
        if not _is_secret(name, value):
            return value
        variable = self._of_files.get((name, value))
        if variable is None:
            stem = variable = "HYPERPARAMETER_" + re.sub(r"\W", "_", name, flags=re.ASCII).upper()
            number = 1
            while variable in self._taken:
                number += 1
                variable = f"{stem}_{number}"
            self._taken.add(variable)
            self._of_files[name, value] = variable
        return f"{_OPEN}{variable}{_CLOSE}"


def _host(plan: JobPlan, host: HostPlan, secrets: ScriptSecrets) -> Iterator[str]:
    """Make one container, and put what it finds into its volumes."""
    trees = (*host.inputs.trees, *([plan.inputs.code] if plan.inputs.code is not None else []))
    yield from ("", comment(host.host.name))
    # The folder of the checkpoints is mounted, and must not be written to by `put`.
    checkpoints = plan.mirrored.checkpoints.local_path if plan.mirrored.checkpoints is not None else None
    yield "mkdir -p " + " ".join(_here(host, path) for path in host.directories if path != checkpoints)
    for tree in trees:
        if not is_mounted(tree):
            yield from _copied(tree, _here(host, _place(tree)))
    long = {paths.channel_manifest(tree.name) for tree in host.inputs.trees if len(tree.listing.paths) > _MANY}
    for path, content in host.files.items():
        if path not in long:
            yield f"printf %s {secrets.file(path, content)} >{_here(host, path)}"
    yield " \\\n  ".join(_create(plan, host, secrets)) + " >/dev/null"
    yield from joining_commands(plan, host)
    yield from (f"put {quote(host.host.name)} {path}" for path in _volumes(plan))


def _create(plan: JobPlan, host: HostPlan, secrets: ScriptSecrets) -> Iterator[str]:
    """The words of `docker create`."""
    name, network = host.host.name, plan.network.own
    # docker stop would send the image's own STOPSIGNAL.
    yield f'docker create --name "by-hand-$job-{name}" --label "smlocal.job=$job" --stop-signal SIGTERM'
    yield from naming_options(host)
    if network is not None:
        yield f'--network "by-hand-$job" --ip {quote(network.addresses[name])} "${{peers[@]}}"'
        yield from (f"--network-alias {quote(alias)}" for alias in host.names.aliases)
        yield from ["--dns 127.0.0.1"] if network.isolated else []
    if plan.network.shared:
        yield f"--network {quote(plan.network.shared)}"
    yield from use_options(host)
    mirrored = (each.local_path for each in plan.mirrored.collectors if each.own_mount)
    volumes = (*_volumes(plan), plan.folders.warm_pool, *mirrored)
    yield from (f"--mount {quote(_csv('type=volume', f'target={path}', 'volume-nocopy'))}" for path in volumes)
    for tree in host.inputs.trees:
        if is_mounted(tree):
            yield _bind(tree.listing.root, tree.target, writable=tree.writable and tree.staging == "bind")
        elif not tree.writable:
            target = quote(f",target={tree.target},readonly")
            yield f'--mount type=bind,source="$PWD"/{_here(host, _place(tree))}{target}'
    if plan.mirrored.checkpoints is not None:
        yield _bind(plan.mirrored.checkpoints.directory, plan.mirrored.checkpoints.local_path, writable=True)
    yield from _data_parallel(plan)
    yield from (f"-e {secrets.variable(variable, value)}" for variable, value in host.environment.items())
    if plan.debug is not None:
        yield _bind(DEBUGGING, debugging.PACKAGE, writable=False)
        yield from debug_options(plan, host)
    words = secrets.command([*(plan.image.entrypoint or ()), *(plan.image.command or ())])
    if plan.image.entrypoint:
        yield f"--entrypoint {words.pop(0)}"
    options_end = ["--"] if plan.image.name.startswith("-") else []
    yield " ".join([*options_end, quote(plan.image.name), *words])


def _data_parallel(plan: JobPlan) -> Iterator[str]:
    """The stand-in for the data parallel library, from where smlocal is installed."""
    if plan.data_parallel is None:
        return
    yield _bind(SOURCE, PACKAGE, writable=False)
    settings = plan.data_parallel
    if settings.mode != "plain":
        yield f"-e {quote(f'SMLOCAL_DDP_MODE={settings.mode}')}"
    if settings.fusion_buffer_bytes is not None:
        yield f"-e SMLOCAL_DDP_FUSION_BUFFER_BYTES={settings.fusion_buffer_bytes}"


def use_options(host: HostPlan) -> Iterator[str]:
    """The resources of a container: memory, processors, devices."""
    yield from limit_options(host.limits)
    if host.accelerators.runtime:
        yield f"--runtime {quote(host.accelerators.runtime)}"
    yield from ulimit_options(host.limits)
    yield from device_options(host.accelerators)


def _bind(source: str, target: str, *, writable: bool) -> str:
    return "--mount " + quote(
        _csv("type=bind", f"source={source}", f"target={target}", *([] if writable else ["readonly"]))
    )


def _csv(*fields: str) -> str:
    return ",".join('"' + field.replace('"', '""') + '"' if re.search('[,"]', field) else field for field in fields)


def _copied(tree: TreePlan, folder: str) -> Iterator[str]:
    """Copy what a channel selects into a folder of this machine."""
    listing = tree.listing
    yield f"mkdir -p {folder}"
    if not _is_one_copy(tree):
        for index, path in enumerate(listing.paths[:_MANY]):
            target = f"{folder}/{quote(path)}"
            if listing.remote:
                yield f"aws s3 cp --only-show-errors {quote(listing.uri_at(index))} {target}"
            else:
                yield f"install -D -m 644 {quote(listing.file(index))} {target}"
    elif listing.remote:
        yield f"aws s3 cp --recursive --only-show-errors {quote(f'{listing.bucket_uri}{listing.key_base}')} {folder}/"
    else:
        yield f"cp -RL {quote(listing.root)}/. {folder}/"


def is_mounted(tree: TreePlan) -> bool:
    """True for a channel whose folder is mounted as it is. Code is copied: programs write beside it."""
    listing = tree.listing
    whole = listing.whole_tree and not (listing.copy_reasons and tree.staging == "bind")
    if listing.remote or tree.target == paths.CODE or tree.staging not in {"bind", "overlay"}:
        return False
    return whole or tree.mode == "FileSystem"


def _is_one_copy(tree: TreePlan) -> bool:
    """True for what one command copies: a folder, or a prefix that is one and whose objects are all selected."""
    listing = tree.listing
    if listing.remote:
        # The objects of a manifest have no sizes.
        folder = bool(listing.sizes) and not listing.keys and f"{listing.prefix.rstrip('/')}/" == listing.key_base
        return folder and listing.whole_tree
    return listing.whole_tree


def _volumes(plan: JobPlan) -> tuple[str, ...]:
    """Folders of the container that are volumes, so that no file of root is left on this machine."""
    return (paths.INPUT, paths.MODEL, paths.OUTPUT, *([paths.CODE] if plan.inputs.code is not None else []))


def _place(tree: TreePlan) -> str:
    """The place of a copy: among the files put into a volume, or beside them, to be mounted read-only."""
    return tree.target if tree.writable else f"/read-only/{tree.name}"


def _here(host: HostPlan, path: str) -> str:
    """Where something of the container lies on this machine until it is put there."""
    return quote(host.host.name) + quote(path.removeprefix(paths.ROOT))


@dataclass(frozen=True, kw_only=True, slots=True)
class DockerLine:
    """The command, and the files that it needs."""

    words: tuple[str, ...]
    """For a shell."""
    files: dict[str, bytes]
    """By their paths in the folder that was given."""
    folders: tuple[str, ...]


def docker_line(plan: JobPlan, folder: str) -> DockerLine | None:
    """The command, with its files in `folder`; None for a job that needs more: `smlocal plan --script` is for those."""
    if len(plan.hosts) != 1 or _needs_more(plan, plan.hosts[0]):
        return None
    (host,) = plan.hosts
    shown = {name: value for name, value in host.environment.items() if not _is_secret(name, value)}
    variables = "".join(f"{name}={value}\n" for name, value in shown.items())
    return DockerLine(
        words=tuple(_line_words(plan, host, folder, [name for name in host.environment if name not in shown])),
        files={
            _VARIABLES: variables.encode(),
            **{f"input/{path.removeprefix(_INPUT)}": content for path, content in host.files.items()},
        },
        folders=tuple(f"input/{tree.target.removeprefix(_INPUT)}" for tree in host.inputs.trees),
    )


def _needs_more(plan: JobPlan, host: HostPlan) -> bool:
    return bool(
        not plan.engines.first.shares_folders
        or plan.network.own is not None
        or plan.network.joined
        or plan.network.shared
        or plan.debug is not None
        or plan.inputs.code is not None
        or plan.mirrored.checkpoints is not None
        or plan.mirrored.collectors
        or plan.credentials is not None
        or host.inputs.pipes
        or not host.files  # a recalled plan
        or any(not is_mounted(tree) or tree.listing.failure is not None for tree in host.inputs.trees)
        # A file of variables has one in each line.
        or any("\n" in value or "\r" in value for value in host.environment.values())
        or any(not path.startswith(_INPUT) or masked_file(path, data) != data for path, data in host.files.items())
        or _command(plan) != masked_words(_command(plan))
    )


def _command(plan: JobPlan) -> list[str]:
    return [*(plan.image.entrypoint or ()), *(plan.image.command or ())]


def _is_secret(name: str, value: str) -> bool:
    return value != "" and masked(name, value) != value


def _line_words(plan: JobPlan, host: HostPlan, folder: str, others: list[str]) -> Iterator[str]:
    yield "docker"
    if plan.engines.first.named:
        yield from ("-H", quote(plan.engines.first.address))
    yield from ("run", "--rm", "--hostname", quote(host.names.hostname))
    for name, address in host.names.extra_hosts.items():
        yield from ("--add-host", quote(f"{name}:{address}"))
    yield from ("--env-file", quote(f"{folder}/{_VARIABLES}"))
    for name in others:  # docker takes them from its own environment
        yield from ("-e", quote(name))
    yield from use_options(host)
    yield from ("-v", quote(f"{folder}/input:{paths.INPUT}:ro"))
    for tree in host.inputs.trees:
        yield from ("-v", quote(f"{tree.listing.root}:{tree.target}:ro"))
    for path in (paths.MODEL, paths.OUTPUT, paths.OUTPUT_DATA, paths.WARM_POOL):
        yield from ("-v", path)
    if plan.image.entrypoint:
        yield from ("--entrypoint", quote(plan.image.entrypoint[0]))
    yield from (quote(plan.image.name), *map(quote, _command(plan)[1 if plan.image.entrypoint else 0 :]))


_FOLDER = "docker-run"


def docker_command(plan: JobPlan) -> str:
    """One command for a shell: `docker run`, or the command that prints a script. Needs the job's folder."""
    folder = f"{plan.job_directory}/{_FOLDER}"
    line = None if ":" in folder else docker_line(plan, folder)
    if line is not None:
        with suppress(OSError):  # a full disk
            for path in ("input", *line.folders):
                os.makedirs(f"{folder}/{path}", exist_ok=True)
            for path, content in line.files.items():
                os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
                with open(f"{folder}/{path}", "wb") as file:
                    file.write(content)
            return " ".join(line.words)
    return f"smlocal plan --recorded {plan.name} --script"

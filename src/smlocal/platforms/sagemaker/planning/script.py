"""The plan as a bash script of docker commands: to read, to run by hand, to send to a colleague."""

import re
from collections.abc import Iterator
from shlex import quote

from smlocal.contract.checkpoints import UPLOADING
from smlocal.planning.model import HostPlan, JobPlan, TreePlan
from smlocal.platforms.sagemaker.contract import paths
from smlocal.platforms.sagemaker.planning.script_secrets import ScriptSecrets

_MANY = 1000
"""The most objects that are copied one by one, and the most lines of a manifest."""

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
        *([f"export DOCKER_HOST={quote(plan.engine.address)}"] if plan.engine.named else []),
        *secrets.required(),
        *_refusal(plan),
        _START,
        *_network(plan),
        *_checkpoints(plan),
        "u=$(umask); umask 022",
        *steps,
        "",
        _RUN.replace("ATTACHED", ' 2>&1 | sed -u "s/^/$h | /"' if len(hosts) > 1 else ""),
        f"for h in {'$hosts' if plan.output.merge_output else quote(hosts[0])}; do",
        _COLLECT,
        'mkdir -p "$results/output"',
        'pack model "$results/output/model.tar.gz"' if zipped else 'cp -a model "$results/output/"',
        'pack data "$results/output/output.tar.gz"',
        *_collected(plan),
        _END,
    ]
    return "\n".join(lines) + "\n"


def comment(text: str) -> str:
    """A line that the shell skips. What a user has written belongs into words, not here; a line it is in any case."""
    return f"# {' '.join(text.split())}"


def _differences(plan: JobPlan) -> Iterator[str]:
    """How the script differs from the run, where it concerns this job."""
    yield "Not done: interruptions, retries, MaxWaitTimeInSeconds."
    read_only = [_name(tree) for tree in plan.trees if is_mounted(tree) and tree.staging == "overlay"]
    if read_only:
        yield f"Mounted read-only, where a run lets the container write: {', '.join(read_only)}."
        yield "With --staging copy they are copied, and can be written."
    long = [_name(tree) for tree in plan.trees if tree.mode == "File" and len(tree.listing.paths) > _MANY]
    if long:
        yield f"Not written, because it would be long: the manifest of {', '.join(long)}."
    if plan.checkpoints is not None:
        yield "All hosts share the mounted folder of the checkpoints, and what they write there belongs to their user."
    if plan.published_mirrors:
        yield f"Not uploaded to S3: the files of {', '.join(member for member, _ in plan.published_mirrors)}."
    if plan.collectors:
        yield f"Saved at the end only: the files of {', '.join(each.member for each in plan.collectors)}."
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
        yield "What the data parallel library records is not kept, and Local.DataParallel: strict is not obeyed."


def no_script(plan: JobPlan) -> str | None:
    """Why docker commands cannot do what the job needs; None if they can."""
    reasons = [] if plan.engine.shares_folders else ["the engine does not see the folders of this machine"]
    reasons += [f"its hosts run on {len(plan.engines)} engines"] if plan.engines else []
    reasons += [f"{pipe.name} is a Pipe channel" for pipe in plan.pipes]
    for tree in plan.trees:
        if tree.listing.failure is not None:
            reasons.append(f"{tree.name} cannot be downloaded: {tree.listing.failure}")
        elif not is_mounted(tree) and not _is_one_copy(tree) and len(tree.listing.paths) > _MANY:
            reasons.append(f"{tree.name} has too many single objects")
    if plan.checkpoints is not None and plan.checkpoints.listing.failure is not None:
        reasons.append(f"the checkpoints cannot be downloaded: {plan.checkpoints.listing.failure}")
    return f"this job needs smlocal run: {'; '.join(reasons)}" if reasons else None


def _refusal(plan: JobPlan) -> Iterator[str]:
    """A line that ends the script at its beginning."""
    why = no_script(plan)
    if why is not None:
        yield f"echo {quote(why)} >&2; exit 3"


def _network(plan: JobPlan) -> Iterator[str]:
    network = plan.network
    if network is None:
        return
    options = f"--subnet {quote(network.subnet)} --gateway {quote(network.gateway)}"
    if network.isolated:
        options += " --internal"
        # The engine's machine gets no address there. Podman does not know this option.
        options += " --opt com.docker.network.bridge.inhibit_ipv4=true" if plan.engine.product == "docker" else ""
    yield f'docker network create --label "smlocal.job=$job" {options} "by-hand-$job" >/dev/null'
    peers = (quote(f"{name}:{address}") for name, address in network.addresses.items())
    yield f"peers=({' '.join(f'--add-host {peer}' for peer in peers)})"


def _checkpoints(plan: JobPlan) -> Iterator[str]:
    """Make the folder of the checkpoints, with those that are in S3."""
    checkpoints = plan.checkpoints
    if checkpoints is None:
        return
    folder, listing = quote(checkpoints.directory), checkpoints.listing
    if listing.remote:
        yield f'[ ! -e {folder} ] || mv {folder} {folder}-until-"$(date +%s)"'
    yield f"mkdir -p {folder}"
    if listing.remote and listing.paths:
        source = quote(f"{listing.bucket_uri}{listing.key_base}")
        yield f"aws s3 cp --recursive --only-show-errors --exclude {quote(f'*{UPLOADING}')} {source} {folder}/"


def _host(plan: JobPlan, host: HostPlan, secrets: ScriptSecrets) -> Iterator[str]:
    """Make one container, and put what it finds into its volumes."""
    trees = (*host.channels, *([plan.code] if plan.code is not None else []))
    yield from ("", comment(host.host.name))
    # The folder of the checkpoints is mounted, and must not be written to by `put`.
    checkpoints = plan.checkpoints.local_path if plan.checkpoints is not None else None
    yield "mkdir -p " + " ".join(_here(host, path) for path in host.directories if path != checkpoints)
    for tree in trees:
        if not is_mounted(tree):
            yield from _copied(tree, _here(host, _place(tree)))
    long = {paths.channel_manifest(tree.name) for tree in host.channels if len(tree.listing.paths) > _MANY}
    for path, content in host.files.items():
        if path not in long:
            yield f"printf %s {secrets.file(path, content)} >{_here(host, path)}"
    yield " \\\n  ".join(_create(plan, host, secrets)) + " >/dev/null"
    yield from (f"put {quote(host.host.name)} {path}" for path in _volumes(plan))


def _create(plan: JobPlan, host: HostPlan, secrets: ScriptSecrets) -> Iterator[str]:
    """The words of `docker create`."""
    name, network = host.host.name, plan.network
    # docker stop would send the image's own STOPSIGNAL.
    yield f'docker create --name "by-hand-$job-{name}" --label "smlocal.job=$job" --stop-signal SIGTERM'
    yield f"--hostname {quote(host.hostname)}"
    yield from (f"--add-host {quote(f'{other}:{address}')}" for other, address in host.extra_hosts.items())
    if network is not None:
        yield f'--network "by-hand-$job" --ip {quote(network.addresses[name])} "${{peers[@]}}"'
        yield from (f"--network-alias {quote(alias)}" for alias in host.aliases)
        yield from ["--dns 127.0.0.1"] if network.isolated else []
    yield from limit_options(host)
    mirrored = (each.local_path for each in plan.collectors if each.own_mount)
    volumes = (*_volumes(plan), plan.folders.warm_pool, *mirrored)
    yield from (f"--mount {quote(_csv('type=volume', f'target={path}', 'volume-nocopy'))}" for path in volumes)
    for tree in host.channels:
        if is_mounted(tree):
            yield _bind(tree.listing.root, tree.target, writable=tree.writable and tree.staging == "bind")
        elif not tree.writable:
            target = quote(f",target={tree.target},readonly")
            yield f'--mount type=bind,source="$PWD"/{_here(host, _place(tree))}{target}'
    if plan.checkpoints is not None:
        yield _bind(plan.checkpoints.directory, plan.checkpoints.local_path, writable=True)
    yield from _data_parallel(plan)
    yield from (f"-e {secrets.variable(variable, value)}" for variable, value in host.environment.items())
    words = secrets.command([*(plan.entrypoint or ()), *(plan.command or ())])
    if plan.entrypoint:
        yield f"--entrypoint {words.pop(0)}"
    options_end = ["--"] if plan.image.startswith("-") else []
    yield " ".join([*options_end, quote(plan.image), *words])


def _data_parallel(plan: JobPlan) -> Iterator[str]:
    """The stand-in for the data parallel library, from where smlocal is installed."""
    if plan.data_parallel is None:
        return
    from smlocal.distributed.mounts import PACKAGE
    from smlocal.distributed.package import SOURCE

    yield _bind(SOURCE, PACKAGE, writable=False)
    settings = plan.data_parallel
    if settings.mode != "plain":
        yield f"-e {quote(f'SMLOCAL_DDP_MODE={settings.mode}')}"
    if settings.fusion_buffer_bytes is not None:
        yield f"-e SMLOCAL_DDP_FUSION_BUFFER_BYTES={settings.fusion_buffer_bytes}"


def limit_options(host: HostPlan) -> Iterator[str]:
    """What a container may use: memory, processors, devices."""
    limits, devices = host.limits, host.devices
    if limits.memory is not None:
        yield f"--memory {limits.memory} --memory-swap {limits.memory}"
    if limits.cpus is not None:
        yield f"--cpus {limits.cpus:g}"
    if limits.shared_memory is not None:
        yield f"--shm-size {limits.shared_memory}"
    if limits.processes is not None:
        yield f"--pids-limit {limits.processes}"
    if host.runtime:
        yield f"--runtime {quote(host.runtime)}"
    yield from (f"--ulimit {quote(f'{limit}={soft}:{hard}')}" for limit, (soft, hard) in limits.ulimits.items())
    if devices is not None and not devices.cdi:
        # The inner quotes are for docker, which reads the value as CSV.
        yield "--gpus all" if devices.every else "--gpus " + quote(f'"device={",".join(devices.ids)}"')
    names = devices.names if devices is not None and devices.cdi else ()
    yield from (f"--device {quote(path)}" for path in (*names, *host.neuron))


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


def _collected(plan: JobPlan) -> Iterator[str]:
    """Save TensorBoard logs and tensors."""
    for each in plan.collectors:
        folder = quote(each.directory)
        source = f'"by-hand-$job-$h":{quote(each.local_path)}/.'
        yield f"mkdir -p {folder}; for h in $hosts; do docker cp {source} {folder} || :; done"
        if each.end_marker is not None:
            yield f"touch {folder}/{quote(each.end_marker)}"


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
    return (paths.INPUT, paths.MODEL, paths.OUTPUT, *([paths.CODE] if plan.code is not None else []))


def _place(tree: TreePlan) -> str:
    """Where a copy lies: among what is put into a volume, or beside it, to be mounted read-only."""
    return tree.target if tree.writable else f"/read-only/{tree.name}"


def _here(host: HostPlan, path: str) -> str:
    """Where something of the container lies on this machine until it is put there."""
    return quote(host.host.name) + quote(path.removeprefix(paths.ROOT))

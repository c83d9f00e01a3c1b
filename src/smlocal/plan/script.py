"""The plan as a shell script that does the same by hand: to paste, to read, to send to a colleague."""

import re
from collections.abc import Iterator

from smlocal.contract import paths
from smlocal.plan.model import CheckpointPlan, HostPlan, JobPlan, PipePlan, TreePlan

_SECRET = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
_LISTED = 20
"""A longer manifest is made by `find` instead of being written out."""
_PIPED = 1000
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def shell_script(plan: JobPlan) -> str:
    """A script for `sh`; its working folder is `$W`, results go where the run would put them."""
    variables = {name: value for host in plan.hosts for name, value in host.environment.items()}
    lines = [
        *_HEAD,
        "set -eu",
        f"J={quote(plan.name)} L={quote(f'smlocal.job={plan.name}')}",
        *(f': "${{{name}:?}}"; export {name}' for name, value in variables.items() if _withheld(name, value)),
        "",
        *_cannot(plan),
        *_clean(plan),
        *_feed(plan),
    ]
    for host in plan.hosts:
        lines += ["", f"# {host.host.name}", *_tree_of(plan, host)]
        lines.append(_create(plan, host))
    lines += ["", *_train(plan), "", "# what the service would upload", *_collect(plan), "", *_VERDICT]
    return "\n".join(lines) + "\n"


_HEAD = (
    "# The job by hand, for sh with docker and GNU tools. Exits as the first host that fails, or 124 after MaxRuntime.",
    "# Run it as root: what containers write is root's. It plays no interruptions, retries or MaxWaitTimeInSeconds.",
)
_FEED = (
    "feed() {  # fill one FIFO an epoch, the next one there before the last is closed",
    '  stem=$1 e=0; shift; mkfifo -m 666 "${stem}_0"',
    "  while :; do",
    '    mkfifo -m 666 "${stem}_$((e + 1))"; cat "$@" >"${stem}_$e" 2>/dev/null || :; e=$((e + 1))',
    "  done",
    "}",
)


def _cannot(plan: JobPlan) -> Iterator[str]:
    """What has no equal in a few lines of shell is said at once, before anything is made."""
    odd = [tree.name for tree in plan.trees if tree.listing.remote and not _copied_by_hand(tree)]
    odd += [pipe.name for pipe in plan.pipes if not _piped_by_hand(pipe)]
    if odd:
        said = f"by hand these channels cannot be had as the job has them: {', '.join(odd)}"
        yield f"echo {quote(said)} >&2; exit 3"


def _copied_by_hand(tree: TreePlan) -> bool:
    listing = tree.listing
    return len(listing.paths) <= _LISTED or (listing.whole_tree and not listing.keys and listing.key_base != "")


def _piped_by_hand(pipe: PipePlan) -> bool:
    plain = not (pipe.record_io or pipe.gzip or pipe.attributes) and pipe.seed is None
    return plain and not pipe.listing.remote and 0 < len(pipe.listing.paths) <= _PIPED


def _feed(plan: JobPlan) -> Iterator[str]:
    if any(_piped_by_hand(pipe) for pipe in plan.pipes):
        yield from _FEED


_OURS = '--filter "label=$L" --filter "name=by-hand-$J"'


def _clean(plan: JobPlan) -> Iterator[str]:
    """However the script ends nothing stays; and it begins so, too: an earlier one may have been killed."""
    yield "clean() {"
    if plan.pipes:
        yield '  [ ! -f "${W:-}/feeders" ] || xargs -r kill <"$W/feeders" 2>/dev/null || :'
        # Whoever waits for a reader gets one, and ends.
        yield '  for f in ${W:+"$W"/*/input/data/*}; do [ ! -p "$f" ] || : <>"$f"; done'
    yield f"  docker ps -aq {_OURS} | xargs -r docker rm -f"
    yield f"  docker volume ls -q {_OURS} | xargs -r docker volume rm"
    if plan.network is not None:
        yield f"  docker network ls -q {_OURS} | xargs -r docker network rm"
    yield '  wait; rm -rf "${TMPDIR:-/tmp}/by-hand-$J".??????'
    yield "} >/dev/null"
    yield "clean"
    yield "trap 's=$?; trap \"\" INT TERM HUP; clean; exit $s' EXIT; trap 'exit 130' INT; trap 'exit 143' TERM HUP"
    yield 'W=$(mktemp -d "${TMPDIR:-/tmp}/by-hand-$J.XXXXXX")'
    if plan.network is not None:
        yield 'docker network create --label "$L" "by-hand-$J" >/dev/null'


def _train(plan: JobPlan) -> Iterator[str]:
    stop, hosts = plan.stop, [host.host.name for host in plan.hosts]
    yield f"run() {{  # one host to its end; when MaxRuntimeInSeconds is over: SIGTERM, {stop.grace} s, SIGKILL"
    yield '  docker start -a "by-hand-$J-$1" & attached=$!'
    yield f"  timeout {stop.max_runtime} tail -s 0.1 -f --pid=$attached /dev/null || {{"
    yield f'    touch "$W/over"; docker stop -t {stop.grace} "by-hand-$J-$1" >/dev/null || :'
    yield "  }; wait $attached || :"
    yield "  s=$(docker inspect -f '{{.State.ExitCode}}' \"by-hand-$J-$1\" 2>/dev/null || echo 137)"
    yield '  echo "$1 $s" >>"$W/ends"'
    if len(hosts) == 1:
        yield "}"
        yield f"run {hosts[0]} & wait"
        return
    # Again and again: a peer may not even have been started yet.
    yield f'  until [ "$s" = 0 ] || [ "$(wc -l <"$W/ends")" -ge {len(hosts)} ]; do  # a failure stops the others'
    yield f"    docker ps -q {_OURS} | xargs -r docker stop -t {stop.peer_grace} >/dev/null; sleep 0.2"
    yield "  done"
    yield "}"
    yield f'for host in {" ".join(hosts)}; do run $host 2>&1 | sed -u "s/^/$host | /" & done; wait'


_VERDICT = (
    "sed 's/ / exited /' \"$W/ends\" >&2",
    '[ ! -e "$W/over" ] || { echo "MaxRuntimeInSeconds is over" >&2; exit 124; }',
    "while read -r host s; do",
    '  [ "$s" != 0 ] || continue',
    '  f=$W/$host/output/failure; if [ -f "$f" ] && [ ! -h "$f" ]; then head -c 1024 "$f" >&2; fi',
    '  exit "$s"',
    'done <"$W/ends"',
)


def looks_secret(name: str) -> bool:
    """True for a variable whose value is better not shown around."""
    return _SECRET.search(name) is not None


def _withheld(name: str, value: str) -> bool:
    return value != "" and looks_secret(name)


def quote(text: str) -> str:
    """One word for `sh`, bare where that is safe."""
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "'\\''") + "'"


def _container(host: HostPlan) -> str:
    return f'"by-hand-$J-{host.host.name}"'


def _here(host: HostPlan, path: str = "") -> str:
    below = f"{host.host.name}{path.removeprefix('/opt/ml')}"
    return f'"$W"/{quote(below)}'


def _tree_of(plan: JobPlan, host: HostPlan) -> Iterator[str]:
    yield "mkdir -p " + " ".join(_here(host, folder) for folder in host.directories)
    manifests = {paths.channel_manifest(tree.name): tree for tree in host.channels}
    for path, content in host.files.items():
        tree = manifests.get(path)
        if tree is not None and tree.listing.whole_tree and len(tree.listing.paths) > _LISTED:
            yield from _long_manifest(tree, _here(host, path))
        else:
            text = content.decode("utf-8", errors="surrogateescape")
            yield f"printf %s {quote(text)} >{_here(host, path)}"
    for tree in host.channels:
        yield from _staged(tree, host)
    for pipe in host.pipes:
        listing = pipe.listing.dealt_to(pipe.shard)
        files = " ".join(quote(listing.file(index)) for index in range(len(listing.paths))) or "/dev/null"
        # In a shell that ends at once, so that nobody waits for who feeds.
        yield f'(feed {_here(host, pipe.target)} {files} >/dev/null 2>&1 & echo $! >>"$W/feeders")'
    if plan.code is not None:
        yield from _staged(plan.code, host)
    if plan.checkpoints is not None:
        yield from _restored(plan.checkpoints, host)


def _checkpoints_here(checkpoints: CheckpointPlan, host: HostPlan) -> str:
    return _here(host, paths.CHECKPOINTS if checkpoints.own_mount else checkpoints.local_path)


def _restored(checkpoints: CheckpointPlan, host: HostPlan) -> Iterator[str]:
    here, prefix = _checkpoints_here(checkpoints, host), quote(checkpoints.directory)
    listed = _here(host, "/opt/ml/restored")
    yield f"mkdir -p {here}"
    yield f"[ ! -d {prefix} ] || cp -RL {prefix}/. {here}/"
    yield f"(cd {here} && find . -type f) >{listed}"


def _saved(checkpoints: CheckpointPlan, host: HostPlan) -> Iterator[str]:
    """What was written since the list was made is copied, what was on it and is gone is deleted."""
    here, prefix = _checkpoints_here(checkpoints, host), quote(checkpoints.directory)
    listed = _here(host, "/opt/ml/restored")
    yield f"(cd {here} && find . -type f -newer {listed} -exec cp -f --parents -t {prefix} {{}} +)"
    yield f"""while IFS= read -r f; do [ -e {here}/"$f" ] || rm -f {prefix}/"$f"; done <{listed}"""


def _long_manifest(tree: TreePlan, target: str) -> Iterator[str]:
    listing = tree.listing
    uri = listing.uri("").replace("%", "%%").replace("\\", "\\\\")
    yield (
        f"{{ printf '%s\\n' {quote(listing.prefix)}; (cd {quote(listing.root)} && "
        f"find -L . -type f -printf {quote(uri + '%P' + chr(92) + 'n')} | LC_ALL=C sort); }} >{target}"
    )


def _staged(tree: TreePlan, host: HostPlan) -> Iterator[str]:
    """An overlay of the whole tree where the plan says so, else a copy: the user's files stay as they are."""
    listing = tree.listing
    here = _here(host, tree.target)
    yield f"mkdir -p {here}"
    if listing.remote:
        yield from _from_s3(tree, here)
    elif _bound(tree):
        return
    elif _shown_in_place(tree):
        yield from _overlay(listing.root, _volume(tree, host))
    elif listing.whole_tree:
        yield f"cp -RL {quote(listing.root)}/. {here}/"
    else:
        for index, path in enumerate(listing.paths):
            folder, _, _ = path.rpartition("/")
            if folder:
                yield f"mkdir -p {here}/{quote(folder)}"
            yield f"cp -L {quote(listing.file(index))} {here}/{quote(path)}"


def _from_s3(tree: TreePlan, here: str) -> Iterator[str]:
    listing = tree.listing
    if not _copied_by_hand(tree):
        return
    if len(listing.paths) > _LISTED:
        yield f"aws s3 cp --recursive --only-show-errors {quote(listing.uri(''))} {here}/"
        return
    for index, path in enumerate(listing.paths):
        source = quote(f"{listing.bucket_uri}{listing.key(index)}")
        yield f"aws s3 cp --only-show-errors {source} {here}/{quote(path)}"


def _bound(tree: TreePlan) -> bool:
    """A folder that is mounted as it is."""
    listing = tree.listing
    whole = tree.mode == "FileSystem" or (listing.whole_tree and not listing.copy_reasons)
    return tree.staging == "bind" and whole and not listing.remote


def _shown_in_place(tree: TreePlan) -> bool:
    return tree.staging == "overlay" and tree.listing.whole_tree and not tree.listing.remote


def _overlay(lower: str, volume: str) -> Iterator[str]:
    for part in ("upper", "work"):
        yield f'docker volume create --label "$L" {volume}-{part} >/dev/null'
    data = "docker volume inspect -f '{{.Mountpoint}}'"
    escaped = re.sub(r"([\\:,])", r"\\\1", lower)
    options = f'"lowerdir="{quote(escaped)}",upperdir=$({data} {volume}-upper),workdir=$({data} {volume}-work)"'
    yield (
        'docker volume create --label "$L" --opt type=overlay --opt device=overlay '
        f"--opt o={options} {volume} >/dev/null"
    )


def _volume(tree: TreePlan, host: HostPlan) -> str:
    return f'"by-hand-$J-{host.host.name}"-{quote(tree.name)}'


def _create(plan: JobPlan, host: HostPlan) -> str:
    # docker stop would send the image's own STOPSIGNAL.
    words = ["docker create", f"--name {_container(host)}", '--label "$L"', "--stop-signal SIGTERM"]
    words.append(f"--hostname {quote(host.hostname)}")
    words += [f"--add-host {quote(f'{name}:{address}')}" for name, address in host.extra_hosts.items()]
    if plan.network is not None:
        words += ['--network "by-hand-$J"', *(f"--network-alias {alias}" for alias in host.aliases)]
    if host.gpus:
        words.append(f"--gpus {host.gpus}")
    for folder in (paths.INPUT, paths.MODEL, paths.OUTPUT):
        words.append(f"-v {_here(host, folder)}:{folder}")
    for tree in (*host.channels, *([plan.code] if plan.code is not None else [])):
        if _shown_in_place(tree):
            words.append(f"--mount type=volume,volume-nocopy,source={_volume(tree, host)},target={quote(tree.target)}")
        elif _bound(tree):
            options = f"target={tree.target}{'' if tree.writable else ',readonly'}"
            words.append(f"--mount type=bind,source={quote(tree.listing.root)},{quote(options)}")
        elif not tree.writable:
            words.append(f"--mount type=bind,source={_here(host, tree.target)},target={quote(tree.target)},readonly")
        elif tree.target == paths.CODE:
            words.append(f"-v {_here(host, tree.target)}:{paths.CODE}")
    if plan.checkpoints is not None and plan.checkpoints.own_mount:
        target = f"target={plan.checkpoints.local_path}"
        words.append(f"--mount type=bind,source={_checkpoints_here(plan.checkpoints, host)},{quote(target)}")
    words += [f"-e {_variable(name, value)}" for name, value in host.environment.items()]
    words += _image_and_command(plan)
    return " \\\n  ".join(words) + " >/dev/null"


def _image_and_command(plan: JobPlan) -> list[str]:
    words = []
    arguments = list(plan.command or ())
    if plan.entrypoint is not None:
        words.append(f"--entrypoint {quote(plan.entrypoint[0])}")
        arguments = [*plan.entrypoint[1:], *arguments]
    return [*words, " ".join([quote(plan.image), *(quote(argument) for argument in arguments)])]


def _variable(name: str, value: str) -> str:
    """A secret is taken from the environment of whoever runs the script, so that it can be shown around."""
    return name if _withheld(name, value) else quote(f"{name}={value}")


def _collect(plan: JobPlan) -> Iterator[str]:
    if plan.checkpoints is not None:
        yield f"mkdir -p {quote(plan.checkpoints.directory)}"
        for host in plan.hosts:
            yield from _saved(plan.checkpoints, host)
    target = quote(f"{plan.output.directory}/output")
    yield f"mkdir -p {target}"
    models = [_here(host, paths.MODEL) for host in plan.hosts]
    if plan.output.compression == "NONE":
        for model in models:
            yield f"mkdir -p {target}/model && cp -a {model}/. {target}/model/"
    else:
        yield from _archive(models, f"{target}/model.tar.gz")
    outputs = plan.hosts if plan.output.merge_output else plan.hosts[:1]
    yield from _archive([_here(host, paths.OUTPUT_DATA) for host in outputs], f"{target}/output.tar.gz")


def _archive(folders: list[str], target: str) -> Iterator[str]:
    folder = folders[0]
    for other in folders[1:]:
        yield f"cp -a {other}/. {folder}/"
    # Like the service's archive: entries relative to the folder, no archive when nothing was written.
    yield (
        f"[ -z \"$(ls -A {folder})\" ] || (cd {folder} && find . -mindepth 1 -printf '%P\\0' | LC_ALL=C sort -z | "
        f"tar --null --no-recursion -T - --owner=0 --group=0 -cz) >{target}"
    )

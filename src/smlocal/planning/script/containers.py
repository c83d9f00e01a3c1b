"""The containers: how they are made, and how they run to their ends."""

from collections.abc import Iterator

from smlocal.contract import paths
from smlocal.contract.gpus import GpuDevices
from smlocal.contract.limits import Limits
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.planning.script.data import bound, shown_in_place, volume
from smlocal.planning.script.mirrored import folders
from smlocal.planning.script.network import on_network
from smlocal.planning.script.secrets import Secrets, is_secret
from smlocal.planning.script.shell import OURS, container, here, quote


def create(plan: JobPlan, host: HostPlan, secrets: Secrets) -> str:
    """The command that makes a container."""
    # docker stop would send the image's own STOPSIGNAL.
    words = ["docker create", f"--name {container(host)}", '--label "$L"', "--stop-signal SIGTERM"]
    words.append(f"--hostname {quote(host.hostname)}")
    words += [f"--add-host {quote(f'{name}:{address}')}" for name, address in host.extra_hosts.items()]
    words += on_network(plan, host)
    words += _limit_words(host.limits)
    if host.devices is not None:
        words += _gpu_words(host.devices)
    words += [f"--device {path}" for path in host.neuron]
    for folder in (paths.INPUT, paths.MODEL, paths.OUTPUT):
        words.append(f"-v {here(host, folder)}:{folder}")
    for tree in (*host.channels, *([plan.code] if plan.code is not None else [])):
        if shown_in_place(tree):
            words.append(f"--mount type=volume,volume-nocopy,source={volume(tree, host)},target={quote(tree.target)}")
        elif bound(tree):
            options = f"target={tree.target}{'' if tree.writable else ',readonly'}"
            words.append(f"--mount type=bind,source={quote(tree.listing.root)},{quote(options)}")
        elif not tree.writable:
            words.append(f"--mount type=bind,source={here(host, tree.target)},target={quote(tree.target)},readonly")
        elif tree.target == paths.CODE:
            words.append(f"-v {here(host, tree.target)}:{paths.CODE}")
    for folder, target in folders(plan, host):
        words.append(f"--mount type=bind,source={folder},{quote(f'target={target}')}")
    words += [f"-e {_variable(name, value)}" for name, value in host.environment.items()]
    words += secrets.image_and_command(plan)
    return " \\\n  ".join(words) + " >/dev/null"


def _variable(name: str, value: str) -> str:
    """A secret is taken from the environment of whoever runs the script, so that it can be shown around."""
    return name if is_secret(name, value) else quote(f"{name}={value}")


def train(plan: JobPlan) -> Iterator[str]:
    """Run all of them, and write down how each ended."""
    stop, hosts = plan.stop, [host.host.name for host in plan.hosts]
    yield f"run() {{  # one host to its end; when MaxRuntimeInSeconds is reached: SIGTERM, {stop.grace} s, SIGKILL"
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
    yield f"    docker ps -q {OURS} | xargs -r docker stop -t {stop.peer_grace} >/dev/null; sleep 0.2"
    yield "  done"
    yield "}"
    yield f'for host in {" ".join(hosts)}; do run $host 2>&1 | sed -u "s/^/$host | /" & done; wait'


def _limit_words(limits: Limits) -> list[str]:
    words = []
    if limits.memory is not None:
        words.append(f"--memory {limits.memory} --memory-swap {limits.memory}")
    if limits.cpus is not None:
        words.append(f"--cpus {limits.cpus:g}")
    if limits.shared_memory is not None:
        words.append(f"--shm-size {limits.shared_memory}")
    return words + [f"--ulimit {name}={soft}:{hard}" for name, (soft, hard) in limits.ulimits.items()]


def _gpu_words(devices: GpuDevices) -> list[str]:
    if devices.cdi:
        return [f"--device {name}" for name in devices.names]
    # The inner quotes are for docker, which reads the value as CSV.
    return ["--gpus all" if devices.every else f"""--gpus '"device={",".join(devices.ids)}"'"""]

"""The plan as a shell script that does the same by hand: to paste, to read, to send to a colleague."""

from collections.abc import Iterator

from smlocal.planning.model import JobPlan
from smlocal.planning.script.containers import create, train
from smlocal.planning.script.data import copied_by_hand, tree_of
from smlocal.planning.script.mirrored import brought, prepared, saved
from smlocal.planning.script.network import make_network
from smlocal.planning.script.pipes import feed, piped_by_hand
from smlocal.planning.script.results import collect
from smlocal.planning.script.secrets import Secrets
from smlocal.planning.script.shell import OURS, quote


def shell_script(plan: JobPlan) -> str:
    """A script for `sh`; its working folder is `$W`, results go where the run would put them."""
    secrets = Secrets.of(plan)
    lines = [
        *_HEAD,
        *_left_out(plan),
        "set -eu",
        f"J={quote(plan.name)} L={quote(f'smlocal.job={plan.name}')}",
        *secrets.wanted(),
        "",
        *_cannot(plan),
        *_clean(plan),
        *feed(plan),
        *brought(plan),
        "u=$(umask); umask 022",  # what the service has
    ]
    for host in plan.hosts:
        lines += ["", f"# {host.host.name}", *tree_of(plan, host, secrets), *prepared(plan, host)]
        lines.append(create(plan, host, secrets))
    lines += [
        "",
        *train(plan),
        "",
        "# what the service would upload",
        'umask "$u"',
        *saved(plan),
        *collect(plan),
        "",
        *_VERDICT,
    ]
    return "\n".join(lines) + "\n"


_HEAD = (
    "# The job by hand, for sh with docker and GNU tools. Exits as the first host that fails, or 124 after MaxRuntime.",
    "# Run it as root: what containers write is root's. It plays no interruptions, retries or MaxWaitTimeInSeconds.",
)


def _left_out(plan: JobPlan) -> Iterator[str]:
    """What the run does and the script does not, where it concerns this job."""
    if plan.checkpoints is not None or plan.collectors:
        yield "# What a run mirrors while the job runs is copied once, at its end; nothing is copied to S3."
    if plan.output.publish:
        yield f"# Nothing is uploaded: aws s3 cp --recursive {quote(plan.output.directory)}/output has to follow."
    if plan.credentials is not None:
        yield "# The containers get no credentials."
    if any(host.limits.disk is not None for host in plan.hosts):
        yield "# The size of the volume is not kept to."
    if plan.request.get("AlgorithmSpecification", {}).get("MetricDefinitions"):
        yield "# No metrics are searched for in what the containers print."


def _cannot(plan: JobPlan) -> Iterator[str]:
    """What has no equal in a few lines of shell is said at once, before anything is made."""
    if not plan.engine.local:
        said = "by hand this needs an engine that sees the folders of this machine"
        yield f"echo {quote(said)} >&2; exit 3"
    odd = [
        tree.name for tree in plan.trees if (tree.listing.remote or tree.listing.failure) and not copied_by_hand(tree)
    ]
    odd += [pipe.name for pipe in plan.pipes if not piped_by_hand(pipe)]
    checkpoints = plan.checkpoints
    if checkpoints is not None and checkpoints.listing.failure is not None:
        odd.append("checkpoints")
    if odd:
        said = f"by hand this data cannot be had as the job has them: {', '.join(odd)}"
        yield f"echo {quote(said)} >&2; exit 3"


def _clean(plan: JobPlan) -> Iterator[str]:
    """However the script ends nothing stays; and it begins so, too: an earlier one may have been killed."""
    yield "clean() {"
    if plan.pipes:
        yield '  [ ! -f "${W:-}/feeders" ] || xargs -r kill <"$W/feeders" 2>/dev/null || :'
        # Whoever waits for a reader gets one, and ends.
        yield '  for f in ${W:+"$W"/*/input/data/*}; do [ ! -p "$f" ] || : <>"$f"; done'
    yield f"  docker ps -aq {OURS} | xargs -r docker rm -f"
    yield f"  docker volume ls -q {OURS} | xargs -r docker volume rm"
    if plan.network is not None:
        yield f"  docker network ls -q {OURS} | xargs -r docker network rm"
    yield '  wait; rm -rf "${TMPDIR:-/tmp}/by-hand-$J".??????'
    yield "} >/dev/null"
    yield "clean"
    yield "trap 's=$?; trap \"\" INT TERM HUP; clean; exit $s' EXIT; trap 'exit 130' INT; trap 'exit 143' TERM HUP"
    yield 'W=$(mktemp -d "${TMPDIR:-/tmp}/by-hand-$J.XXXXXX")'
    yield from make_network(plan)


_VERDICT = (
    "sed 's/ / exited /' \"$W/ends\" >&2",
    '[ ! -e "$W/over" ] || { echo "MaxRuntimeInSeconds reached" >&2; exit 124; }',
    "while read -r host s; do",
    '  [ "$s" != 0 ] || continue',
    '  f=$W/$host/output/failure; if [ -f "$f" ] && [ ! -h "$f" ]; then head -c 1024 "$f" >&2; fi',
    '  exit "$s"',
    'done <"$W/ends"',
)

# shellcheck shell=bash
# Sourced by every script: folders and functions.

# A test on Podman has its network, which has no way to the Internet: leave it.
if [[ ${SMLOCAL_OUTER_NETWORK:-} ]]; then
    outer=$SMLOCAL_OUTER_NETWORK
    unset SMLOCAL_OUTER_NETWORK
    exec nsenter --net="$outer" -- "$0" "$@"
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Downloads, packages, root file systems and logs, shared by all clones. May be deleted at any time.
cache=${SMLOCAL_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/smlocal-setup}
mkdir -p "$cache"

# For scripts/test --fast on macOS.
command -v sha256sum >/dev/null || sha256sum() { shasum -a 256; }
command -v flock >/dev/null || flock() { :; }
processors() { getconf _NPROCESSORS_ONLN; }

# shellcheck source=scripts/lib/say.sh
. "$root/scripts/lib/say.sh"
# shellcheck source=scripts/lib/turns.sh
. "$root/scripts/lib/turns.sh"
# shellcheck source=scripts/lib/root.sh
. "$root/scripts/lib/root.sh"
# shellcheck source=scripts/lib/venv.sh
. "$root/scripts/lib/venv.sh"
# shellcheck source=scripts/lib/engine.sh
. "$root/scripts/lib/engine.sh"
# shellcheck source=scripts/lib/podman.sh
. "$root/scripts/lib/podman.sh"
# shellcheck source=scripts/lib/fuse.sh
. "$root/scripts/lib/fuse.sh"
# shellcheck source=scripts/lib/chromium.sh
. "$root/scripts/lib/chromium.sh"
# shellcheck source=scripts/lib/recordio_reader.sh
. "$root/scripts/lib/recordio_reader.sh"

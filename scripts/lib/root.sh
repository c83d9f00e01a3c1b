# shellcheck shell=bash disable=SC2154
# root and cache come from setup.sh.
#
# Runs commands as root: directly, or with sudo if it needs no password or can ask for one.

may_be_root() {
    [[ $(id -u) == 0 ]] && return
    command -v sudo >/dev/null || return
    sudo -n true 2>/dev/null && return
    [[ -t 0 && -t 2 && -z ${CI:-} ]] && sudo -v
}

as_root() {
    if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

apt_updated=

# Install Debian packages; false if that is not possible.
apt_install() {
    command -v apt-get >/dev/null || return
    may_be_root || return
    if [[ -z $apt_updated ]]; then
        locked apt quietly "$cache/apt.log" as_root apt-get update || return
        apt_updated=yes
    fi
    locked apt quietly "$cache/apt.log" \
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

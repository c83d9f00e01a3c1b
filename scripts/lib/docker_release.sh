# shellcheck shell=bash disable=SC2154
# root and cache come from setup.sh.
#
# The Docker of another Debian release, for tests, in a root file system of that release.

# shellcheck source=scripts/lib/bases.sh
. "$root/scripts/lib/bases.sh"

# A folder that users other than root can reach.
# shellcheck disable=SC2034  # the scripts read it
sockets=/run/smlocal-docker

see_to_release() {
    local release=$1 folder=$cache/docker/$1 script=()
    [[ $release =~ ^[a-z]+$ ]] || give_up "'$release' is not a Debian release" "names of releases: bookworm, trixie, forky, sid"
    [[ $EUID == 0 ]] || give_up "only root can make and use a root file system" "run this as root"
    [[ ! -d $folder/root ]] || return 0
    command -v debootstrap >/dev/null || apt_install debootstrap debian-archive-keyring ||
        give_up "debootstrap is needed to fetch the Docker of $release" "sudo apt-get install debootstrap debian-archive-keyring"
    step "fetching the Docker of Debian $release (once)"
    mkdir -p "$folder"
    rm -rf "$folder/making"
    # An old debootstrap does not know newer releases; the script of sid works for all.
    [[ -e /usr/share/debootstrap/scripts/$release ]] || script=(/usr/share/debootstrap/scripts/sid)
    quietly "$cache/docker/log" debootstrap --variant=minbase --include=ca-certificates,docker.io,iptables \
        "$release" "$folder/making" "$(debian_mirror)" "${script[@]}" || {
        rm -rf "$folder"
        give_up "the Docker of Debian $release could not be fetched" "names of releases: bookworm, trixie, forky, sid"
    }
    mv "$folder/making" "$folder/root"
}

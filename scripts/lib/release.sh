# shellcheck shell=bash disable=SC2154
# root and cache come from setup.sh.
#
# Root file systems of other Debian releases, and commands in them.

# shellcheck source=scripts/lib/bases.sh
. "$root/scripts/lib/bases.sh"

# see_to_release FOLDER RELEASE PACKAGES: the root file system of a release with these packages, in FOLDER/root.
see_to_release() {
    local folder=$1 release=$2 packages=$3 script=()
    [[ $release =~ ^[a-z]+$ ]] || give_up "'$release' is not a Debian release" "names of releases: bookworm, trixie, forky, sid"
    [[ $EUID == 0 ]] || give_up "only root can make and use a root file system" "run this as root"
    [[ ! -d $folder/root ]] || return 0
    command -v debootstrap >/dev/null || apt_install debootstrap debian-archive-keyring ||
        give_up "debootstrap is needed to fetch Debian $release" "sudo apt-get install debootstrap debian-archive-keyring"
    step "fetching ${packages//,/, } of Debian $release (once)"
    mkdir -p "$folder"
    rm -rf "$folder/making"
    # An old debootstrap does not know newer releases; the script of sid works for all.
    [[ -e /usr/share/debootstrap/scripts/$release ]] || script=(/usr/share/debootstrap/scripts/sid)
    quietly "$folder/log" debootstrap --variant=minbase --include="ca-certificates,$packages" \
        "$release" "$folder/making" "$(debian_mirror)" "${script[@]}" || {
        rm -rf "$folder"
        give_up "Debian $release could not be fetched" "names of releases: bookworm, trixie, forky, sid"
    }
    mv "$folder/making" "$folder/root"
}

# in_release FOLDER COMMAND…: this process becomes the command, with the programs and libraries of the release, and all other folders of this
# machine: they are mounted into its root file system, together with later mounts.
in_release() {
    local folder=$1
    shift
    # shellcheck disable=SC2016  # for the inner shell
    exec unshare --mount --propagation slave bash -c '
        set -eu
        root=$1
        shift
        mount --rbind "$root" "$root"
        for folder in /*; do
            case $folder in
                /bin | /boot | /etc | /lib* | /lost+found | /sbin | /usr | /var) continue ;;
            esac
            [ -d "$folder" ] && [ ! -L "$folder" ] || continue
            mkdir -p "$root$folder"
            mount --rbind "$folder" "$root$folder"
        done
        # Names and certificates of this machine: it may reach package indexes by a proxy of its own.
        for file in /etc/hosts /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt; do
            [ ! -f "$file" ] || { [ -f "$root$file" ] && mount --bind "$file" "$root$file"; }
        done
        here=$PWD
        mkdir -p "$root/old"
        cd "$root"
        pivot_root . old
        cd "$here"
        umount --lazy /old
        export SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
        exec "$@"
    ' in-release "$folder/root" "$@"
}

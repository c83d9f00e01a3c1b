# shellcheck shell=bash
# Podman, for the tests of engines other than Docker; they are skipped where it cannot be had.

podman_packages=(podman runc netavark aardvark-dns)

have_podman() {
    local needed=(/usr/bin/podman /usr/sbin/runc /usr/lib/podman/netavark /usr/lib/podman/aardvark-dns) file
    for file in "${needed[@]}"; do
        if [[ ! -x $file ]]; then
            step "installing Podman"
            apt_install "${podman_packages[@]}"
            return
        fi
    done
}

see_to_podman() {
    have_podman || say "  Podman cannot be installed here: the tests that need it are skipped"
}
